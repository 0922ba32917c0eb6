// Inputs as RWKV-7 makes them, and how its results are judged.
#pragma once

#include "kernels/reference/rwkv7.h"
#include "tests/accuracy/test_tensor.h"

namespace flash_ref_test {

// w = -exp(-0.5) sigmoid(x), a = -kk and b = kk * (a rate in 0 to 1) with kk of length 1.
flash_ref::reference::Rwkv7Inputs random_rwkv7_inputs(const flash_ref::reference::Rwkv7Case& sizes,
                                                      TestDtype dtype, bool with_state, std::uint32_t seed);

// Root mean square of the error over that of the exact values.
double rms_ratio(const std::vector<double>& actual, const std::vector<double>& exact);

// What that may be: 2e-3, and one rounding of the output or 1e-5 where that is less. A few bfloat16 numbers
// can be further from themselves unrounded: there 1.1 times as far as those are.
double rwkv7_bound(const std::vector<double>& exact, TestDtype dtype);

}  // namespace flash_ref_test
