// Rotary embedding for the tests: in fp64, and with every product and sum rounded to a format as plain code
// does.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/reference/number_format.h"

namespace flash_ref::reference {

struct RotaryCase {
  std::int64_t batch, seq, heads, dim, pairs;
  bool interleaved = false;
  bool conjugate = false;
};

struct RotaryInputs {
  std::vector<double> x;         // (batch, seq, heads, dim)
  std::vector<double> cos, sin;  // (seq, pairs)
};

std::vector<double> rotary_fp64(const RotaryCase& sizes, const RotaryInputs& inputs);
std::vector<double> rotary_naive(const RotaryCase& sizes, const RotaryInputs& inputs, NumberFormat format);

}  // namespace flash_ref::reference
