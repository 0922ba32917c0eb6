// The call stack of this thread as raw addresses; names and lines are found later, in another process. Two
// unwinders implement it, chosen by the build: stack_with_libunwind.cpp where a static libunwind can go into
// a shared library, else stack_with_libgcc.cpp. Either is linked in and hidden: a visible one would take over
// the program's exceptions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dtype_guard::san {

// Fills `frames`, innermost first, with return addresses and gives their number. Frames of this library are
// left out. The address of a frame that was interrupted by a signal is one higher, so that "return address -
// 1" always lies in the instruction that matters.
std::size_t capture_stack(std::uintptr_t* frames, std::size_t capacity);

// The same without what lies inside the call that returns to `caller`: the kernel library's own frames.
std::size_t capture_stack_from(std::uintptr_t caller, std::uintptr_t* frames, std::size_t capacity);

// Whether an address lies in this library.
bool is_own_code(std::uintptr_t address);

}  // namespace dtype_guard::san
