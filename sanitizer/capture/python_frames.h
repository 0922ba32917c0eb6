// The Python frames of this thread, read from CPython's own structures. Neither the GIL is needed nor waited
// for: inside a call that Python made, this thread's frame chain does not change. Where the layout of the
// running version is not known (or threads are free), there are no Python frames, and the report says why.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace dtype_guard::san {

struct PythonFrame {
  static constexpr std::size_t kLongest = 160;
  char file[kLongest];
  char function[kLongest];
  std::uint32_t line;
  // The frame was entered from C: the next C frame of the evaluation loop belongs to its caller.
  bool from_c;
};

// Looks for an interpreter among the loaded objects; cheap to call again.
void find_python();

// Why there are no Python frames in a process that has an interpreter; nullptr when there are, or when there
// is none.
const char* python_problem();

// Innermost first; gives their number.
std::size_t capture_python(PythonFrame* frames, std::size_t capacity);

// Differs between calls from different Python lines; 0 without Python. A few nanoseconds.
std::uint64_t read_python_position();
inline std::atomic<bool> python_found{false};
inline std::uint64_t python_position() {
  return python_found.load(std::memory_order_relaxed) ? read_python_position() : 0;
}

}  // namespace dtype_guard::san
