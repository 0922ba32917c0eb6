#include "analyzer/driver/editing/rule_pages.h"

#include <filesystem>

#include "analyzer/lsp/documents.h"
#include "rules/catalog/catalog.h"
#include "rules/files/atomic_file.h"
#include "rules/files/input_file.h"

namespace dtype_guard::driver {

const std::string& RulePages::link(const std::string& rule) {
  const auto [known, fresh] = links_.try_emplace(rule);
  const Rule* found = fresh ? find_rule(rule) : nullptr;
  if (!found || folder_.empty()) return known->second;
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  const std::string file = folder_ + "/" + rule + ".md";
  const bool is_there = !error && read_input(file).text == found->text;
  if (is_there || (!error && write_atomically(file, found->text).empty())) known->second = lsp::uri_of(file);
  return known->second;
}

}  // namespace dtype_guard::driver
