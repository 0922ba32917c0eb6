#include "rules/report/shown_frames.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace dtype_guard {
namespace {

bool is_python(const StackFrame& frame) { return frame.language == "python"; }

std::string_view file_name(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);
  return path;
}

bool is_folded(const StackFrame& frame) {
  if (is_python(frame)) return false;
  const std::string_view module = file_name(frame.module);
  return frame.line == 0 || module.starts_with("libtorch") || module.starts_with("libc10");
}

}  // namespace

std::vector<FrameRow> shown_frames(const std::vector<StackFrame>& stack, Frames wanted) {
  const bool folds = wanted == Frames::kFolded && std::any_of(stack.begin(), stack.end(), is_python);
  std::vector<FrameRow> rows;
  for (std::size_t i = 0; i < stack.size(); ++i) {
    if (!folds || !is_folded(stack[i])) {
      rows.push_back({&stack[i], i, 1, ""});
      continue;
    }
    FrameRow row{nullptr, i, 0, ""};
    std::vector<std::string_view> modules;
    for (; i < stack.size() && is_folded(stack[i]); ++i, ++row.count) {
      const std::string_view module = file_name(stack[i].module);
      if (!module.empty() && std::find(modules.begin(), modules.end(), module) == modules.end())
        modules.push_back(module);
    }
    --i;
    row.modules = fmt::format("{}", fmt::join(modules, ", "));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string folded_text(const FrameRow& row) {
  return fmt::format("{} frame{}{}{}", row.count, row.count == 1 ? "" : "s",
                     row.modules.empty() ? "" : " of ", row.modules);
}

const std::vector<std::string>& frames_words() {
  static const std::vector<std::string> kWords = {"folded", "all"};
  return kWords;
}

}  // namespace dtype_guard
