// 2^x for float, as a polynomial that vectorises: x = n + f with n an integer and f in [-1/2, 1/2], 2^f by
// its Taylor series up to f^7 (truncation below 2^-27) and 2^n put into the exponent bits. Softmax calls it
// with x <= 0 only.
#pragma once

#include <bit>
#include <cstdint>

namespace flash_ref {

// For x <= 0 or NaN. Results below 2^-126 are 0; exp2_nonpositive(0) is exactly 1.
inline float exp2_nonpositive(float x) {
  constexpr float kRounder = 0x1.8p23F;  // adding it rounds to an integer, which then sits in the low bits
  const float clamped = x < -126.0F ? -126.0F : x;
  const float shifted = clamped + kRounder;
  const float f = clamped - (shifted - kRounder);
  float sum = 1.5252734e-5F;  // ln(2)^n / n! from n = 7 down
  sum = sum * f + 1.5403530e-4F;
  sum = sum * f + 1.3333558e-3F;
  sum = sum * f + 9.6181291e-3F;
  sum = sum * f + 5.5504109e-2F;
  sum = sum * f + 2.4022651e-1F;
  sum = sum * f + 6.9314718e-1F;
  sum = sum * f + 1.0F;
  const std::uint32_t n = std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(kRounder);
  const float power = std::bit_cast<float>((n + 127U) << 23);
  return x < -126.0F ? 0.0F : sum * power;
}

}  // namespace flash_ref
