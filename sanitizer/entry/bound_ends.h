// In a process that was joined while it ran, the functions by which a program ends at once, becomes another
// program or starts one are bound already. The words through which objects call them are led to our hooks, so
// that the final counts are written there as in a program that started with the library.
//
// Not reached: bare system calls, objects that are loaded later, addresses taken before, and calls inside
// libc.
#pragma once

namespace dtype_guard::san {

void watch_bound_ends();

}  // namespace dtype_guard::san
