// The call stack of this thread as raw addresses; names and lines are found later, in another process. Two
// unwinders implement it, chosen by the build: stack_with_libunwind.cpp where a static libunwind can go into
// a shared library, else stack_with_libgcc.cpp. Either is linked in and hidden: a visible one would take over
// the program's exceptions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dtype_guard::san {

// Fills `frames`, innermost first, with return addresses and gives their number, and `words` with the place
// on the stack that holds each; 0 where that is not known. Frames of this library are left out. The address
// of a frame that was interrupted by a signal is one higher, so that "return address - 1" always lies in the
// instruction that matters.
std::size_t capture_stack(std::uintptr_t* frames, std::uintptr_t* words, std::size_t capacity);

// The same without what lies inside the call that returns to `caller`: the kernel library's own frames.
std::size_t capture_stack_from(std::uintptr_t caller, std::uintptr_t* frames, std::uintptr_t* words,
                               std::size_t capacity);

// Where the return address of a frame lies: in the stack of the function that returns there, which reaches
// from its own stack pointer to that after the return; 0 when it is not there. Where a call pushes it
// (x86-64), that is the first word looked at.
inline std::uintptr_t return_word(std::uintptr_t inner_stack_pointer, std::uintptr_t stack_pointer,
                                  std::uintptr_t address) {
  constexpr std::size_t kMostWords = 64;
  if (inner_stack_pointer == 0 || inner_stack_pointer >= stack_pointer) return 0;
  const auto* word = reinterpret_cast<const std::uintptr_t*>(stack_pointer);
  const auto* end = reinterpret_cast<const std::uintptr_t*>(inner_stack_pointer);
  if (word - end > static_cast<std::ptrdiff_t>(kMostWords)) end = word - kMostWords;
  while (word-- > end)
    if (*word == address) return reinterpret_cast<std::uintptr_t>(word);
  return 0;
}

}  // namespace dtype_guard::san
