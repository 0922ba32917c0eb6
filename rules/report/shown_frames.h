// Which frames of a stack a reader of a report is shown. Where Python has frames, what a person can edit is
// in these: native frames without a source line, and those of PyTorch, stand as one row each time that some
// follow one another, unless all are asked for. A stack without Python frames is shown as it is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "rules/finding/finding.h"

namespace dtype_guard {

enum class Frames : bool { kFolded, kAll };

struct FrameRow {
  const StackFrame* frame = nullptr;  // none: a row for `count` frames
  std::size_t first = 0;              // its number in the stack
  std::size_t count = 1;
  std::string modules;  // "libtorch_cpu.so, libtorch_python.so"
};
std::vector<FrameRow> shown_frames(const std::vector<StackFrame>& stack, Frames wanted);

// "4 frames of libtorch_cpu.so"
std::string folded_text(const FrameRow& row);

// The words of --frames, the default first.
const std::vector<std::string>& frames_words();

}  // namespace dtype_guard
