// In a process that was joined while it ran, calls are bound already and pass our interceptors by. Copies
// with an observer slot are reached all the same; for the others the words through which objects call (their
// global offset tables) are led to thunks, one function per kernel (interceptor.h), which call on to just
// that kernel.
//
// Not reached: an address that the program has taken before (dlsym, ctypes, a variable), calls bound inside
// the kernel's own object, and objects that are loaded later.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dtype_guard::san {

struct BoundCalls {
  std::uint32_t copies = 0;  // of watched libraries, without a slot
  std::uint32_t calls = 0;   // words that lead to a thunk now
};

BoundCalls watch_bound_calls();

}  // namespace dtype_guard::san
