#include "analyzer/driver/editing/answers.h"

#include "analyzer/driver/editing/actions.h"
#include "analyzer/driver/editing/values.h"

namespace dtype_guard::driver {

lsp::Json Answers::to(const std::string& method, const std::string& path, const lsp::Json& params) {
  const std::optional<lsp::Range> range = lsp::read_range(lsp::at(params, "range"));
  const std::optional<lsp::Position> position = lsp::read_position(lsp::at(params, "position"));
  if (method == "textDocument/hover" && position)
    return Values(project_, edited_, view_, step_).hover(path, *position);
  if (method == "textDocument/definition" && position)
    return Values(project_, edited_, view_, step_).definition(path, *position);
  if (method == "textDocument/inlayHint" && range)
    return Values(project_, edited_, view_, step_).hints(path, *range);
  if (method == "textDocument/codeAction" && range) {
    return Actions(project_, edited_, view_, step_).in(path, *range, lsp::at(params, "context"));
  }
  return nullptr;
}

}  // namespace dtype_guard::driver
