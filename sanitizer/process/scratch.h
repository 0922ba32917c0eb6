// The room that one record is built in: a frame, a stack and texts, none of which may lie on the stack of the
// program, which may be a small one.
#pragma once

#include <atomic>
#include <cstdint>

#include "sanitizer/capture/python_frames.h"
#include "sanitizer/protocol/journal.h"

namespace dtype_guard::san {

struct Scratch {
  std::atomic<std::uint32_t> taken;
  alignas(8) char frame[kLargestFrame];
  std::uintptr_t stack[160];
  std::uintptr_t stack_words[160];  // where each lies
  std::uint32_t modules[160];
  PythonFrame python[32];
  char path[4096];
  char text[2048];
};

}  // namespace dtype_guard::san
