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

// Of the format itself: rounding the output once costs bfloat16 more than 2e-3 can hold.
double rounding(TestDtype dtype);

}  // namespace flash_ref_test
