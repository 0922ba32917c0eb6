// Findings as diagnostics of an editor: at the line to edit, with the rule and its page, the way of the dtype
// to the call as related information.
#pragma once

#include <map>
#include <string>

#include "analyzer/driver/editing/edited_texts.h"
#include "analyzer/driver/editing/rule_pages.h"
#include "analyzer/driver/file_summary.h"
#include "rules/report/report.h"

namespace dtype_guard::driver {

// What the client takes, as the session tells it.
struct ClientView {
  lsp::Encoding encoding = lsp::Encoding::kUtf16;
  bool related_information = false, code_description = false, data = false, tags = false;
  bool preferred = false, document_changes = false, markdown = false, links = false;
};
ClientView read_view(const lsp::Json& setup);

class Diagnostics {
 public:
  Diagnostics(const ClientView& view, TextsNow& texts, RulePages& pages)
      : view_(view), texts_(texts), pages_(pages) {}
  lsp::Json of(const Finding& finding, const std::string& root);
  // A file that could not be read, or not to its end.
  lsp::Json of(const FileSummary& summary, const std::string& root);
  // By absolute path: all that are open, and files that could not be read.
  std::map<std::string, lsp::Json> of(const Report& report, const std::vector<FileSummary>& summaries);

 private:
  lsp::Json related(const Finding& finding, const std::string& root);

  const ClientView& view_;
  TextsNow& texts_;
  RulePages& pages_;
};

std::string absolute_path(const std::string& root, const std::string& report_name);

}  // namespace dtype_guard::driver
