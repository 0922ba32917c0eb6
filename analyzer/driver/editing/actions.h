// Code actions: the fix of a finding, all fixes of a file, and a comment that accepts a finding.
#pragma once

#include <string>
#include <vector>

#include "analyzer/driver/edited_text.h"
#include "analyzer/driver/editing/diagnostics.h"
#include "analyzer/driver/editing/edited_project.h"

namespace dtype_guard::driver {

class Actions {
 public:
  Actions(EditedProject& project, const EditedTexts& edited, const ClientView& view, const BeforeStep& step)
      : project_(project), edited_(edited), view_(view), step_(step), texts_(edited, view.encoding) {}
  // Those for a range of a file; `context` is CodeActionContext.
  lsp::Json in(const std::string& path, const lsp::Range& range, const lsp::Json& context);

 private:
  using Bytes = std::map<std::string, std::vector<ByteEdit>>;  // by absolute path
  // The edits of a finding's first fix; empty where one of them cannot be made.
  Bytes bytes_of(const Fix& fix);
  // The report is of another text, with other places.
  bool is_older(const std::string& path);
  lsp::Json workspace_edit(const Bytes& bytes);
  void add_fixes(const Finding& finding, const std::vector<lsp::Json>& shown, lsp::Json& out);
  void add_comment(const Finding& finding, const std::vector<lsp::Json>& shown, lsp::Json& out);
  void add_all(const std::string& path, const std::string& kind, lsp::Json& out);
  Bytes all_fixes(const std::string& path);
  bool cures(const Bytes& bytes, std::size_t fixed);

  EditedProject& project_;
  const EditedTexts& edited_;
  const ClientView& view_;
  const BeforeStep& step_;
  TextsNow texts_;
};

}  // namespace dtype_guard::driver
