// A floating-point format as three numbers, and rounding to it in double arithmetic. The oracle uses this
// instead of the kernels' bit conversions, so that an error in those cannot hide itself.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace flash_ref::reference {

struct NumberFormat {
  int digits;        // of the significand, the leading one included
  int min_exponent;  // of the smallest normal number
  double largest;
};

inline constexpr NumberFormat kFloat16{11, -14, 65504.0};
inline constexpr NumberFormat kBFloat16{8, -126, 0x1.fep127};
inline constexpr NumberFormat kFloat32{24, -126, 0x1.fffffep127};

// Oracles round each number that they store: what follows is inline, and free of calls.
inline double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// Of the leading bit of a finite number; -1023 where a double has none.
inline int exponent_of(double value) {
  return static_cast<int>(std::bit_cast<std::uint64_t>(value) >> 52 & 0x7ff) - 1023;
}

// The distance between neighbouring numbers of the format at `value`.
inline double ulp(NumberFormat format, double value) {
  return power_of_two(std::max(exponent_of(value), format.min_exponent) - format.digits + 1);
}

// To nearest, ties to even; beyond the largest number infinity. A double has 53 digits: next to 1.5 * 2^52
// ulps it has no room for less than one, and rounds as asked.
inline double round_to(NumberFormat format, double value) {
  if (!(std::abs(value) <= 2 * format.largest)) {
    return std::isnan(value) ? value : std::copysign(std::numeric_limits<double>::infinity(), value);
  }
  const double many = 0x1.8p52 * ulp(format, value);
  const double rounded = std::copysign(std::abs(value) + many - many, value);
  if (std::abs(rounded) <= format.largest) return rounded;
  return std::copysign(std::numeric_limits<double>::infinity(), value);
}

// The bits of a number (rounded first) and back, laid out as IEEE 754 lays out its binary formats.
std::uint32_t encode(NumberFormat format, double value);
double decode(NumberFormat format, std::uint32_t bits);

}  // namespace flash_ref::reference
