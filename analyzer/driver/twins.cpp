#include "analyzer/driver/twins.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

namespace dtype_guard::driver {

namespace {
// What the file is generated from if it is, by its name alone; else empty.
std::string source_by_name(const std::string& file) {
  constexpr std::string_view kSource = "modular_";
  const std::size_t begin = file.rfind('/') + 1;
  const std::string name = file.substr(begin);
  const std::size_t split = name.find('_');
  if (!name.ends_with(".py") || split == std::string_view::npos || name.starts_with(kSource)) return "";
  return file.substr(0, begin) + std::string(kSource) + name.substr(split + 1);
}
}  // namespace

std::string source_of_twin(const std::string& file, const flow::SourceText& text) {
  constexpr std::size_t kHead = 2000;  // bytes, in which a generator says what it is
  const std::string source = source_by_name(file);
  const std::string* content = text && !source.empty() ? text(file) : nullptr;
  const std::string_view name = std::string_view(source).substr(source.rfind('/') + 1);
  const bool named =
      content && std::string_view(*content).substr(0, kHead).find(name) != std::string_view::npos;
  return named ? source : "";
}

std::set<std::string> sources_of_twins(const std::vector<std::string>& files, const flow::SourceText& text) {
  const std::set<std::string> all(files.begin(), files.end());
  std::set<std::string> out;
  for (const std::string& each : files) {
    if (all.contains(source_by_name(each)) && !source_of_twin(each, text).empty())
      out.insert(source_by_name(each));
  }
  return out;
}

void merge_twins(std::vector<Finding>& findings, const flow::SourceText& text) {
  using Key = std::tuple<std::string, std::string>;  // file, and what the finding is in any file
  std::map<Key, std::vector<Finding*>> by_source;
  for (Finding& each : findings) by_source[{each.location.file, each.fingerprint}].push_back(&each);
  std::map<Key, std::size_t> taken;
  std::vector<Finding*> gone;
  for (Finding& each : findings) {
    const std::string source = source_of_twin(each.location.file, text);
    const auto found = by_source.find({source, each.fingerprint});
    if (source.empty() || found == by_source.end()) continue;
    // The second of equals in one file is the second of the other.
    std::size_t& next = taken[{each.location.file, each.fingerprint}];
    if (next == found->second.size()) continue;
    Finding& kept = *found->second[next++];
    kept.sinks.insert(kept.sinks.end(), each.sinks.begin(), each.sinks.end());
    gone.push_back(&each);
  }
  std::vector<Finding> left;
  for (Finding& each : findings) {
    if (std::find(gone.begin(), gone.end(), &each) == gone.end()) left.push_back(std::move(each));
  }
  findings = std::move(left);
}

}  // namespace dtype_guard::driver
