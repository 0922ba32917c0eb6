// libtorch as a rival. Where the build found none there is no such file in it, and FLASH_REF_BENCH_TORCH is
// not set.
#pragma once

#include <functional>
#include <string>

#include "tests/bench/kernels/arrays.h"

namespace bench {

std::string torch_version();

// The call to measure; heads of q and k are equal.
std::function<void()> torch_attention(Array& q, Array& k, Array& v, bool causal, int threads);

}  // namespace bench
