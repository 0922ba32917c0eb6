// What an editor asks of a place in a file.
#pragma once

#include <string>

#include "analyzer/driver/editing/diagnostics.h"
#include "analyzer/driver/editing/edited_project.h"

namespace dtype_guard::driver {

class Answers {
 public:
  // The project's report is of these texts.
  Answers(EditedProject& project, const EditedTexts& edited, const ClientView& view, BeforeStep step)
      : project_(project), edited_(edited), view_(view), step_(std::move(step)) {}
  // The result of a request of LSP; null where there is none.
  lsp::Json to(const std::string& method, const std::string& path, const lsp::Json& params);

 private:
  EditedProject& project_;
  const EditedTexts& edited_;
  const ClientView& view_;
  BeforeStep step_;
};

}  // namespace dtype_guard::driver
