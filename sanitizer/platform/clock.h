// The time, from the kernel's own code that it maps into each process (vdso).
#pragma once

#include <cstdint>

namespace dtype_guard::san {

std::uint64_t now_ns();  // since 1970
std::uint64_t monotonic_ns();

}  // namespace dtype_guard::san
