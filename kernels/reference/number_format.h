// A floating-point format as three numbers, and rounding to it in double arithmetic. The oracle uses this
// instead of the kernels' bit conversions, so that an error in those cannot hide itself.
#pragma once

#include <cstdint>

namespace flash_ref::reference {

struct NumberFormat {
  int digits;        // of the significand, the leading one included
  int min_exponent;  // of the smallest normal number
  double largest;
};

inline constexpr NumberFormat kFloat16{11, -14, 65504.0};
inline constexpr NumberFormat kBFloat16{8, -126, 0x1.fep127};
inline constexpr NumberFormat kFloat32{24, -126, 0x1.fffffep127};

// To nearest, ties to even; beyond the largest number infinity.
double round_to(NumberFormat format, double value);

// The distance between neighbouring numbers of the format at `value`.
double ulp(NumberFormat format, double value);

// The bits of a number (rounded first) and back, laid out as IEEE 754 lays out its binary formats.
std::uint32_t encode(NumberFormat format, double value);
double decode(NumberFormat format, std::uint32_t bits);

}  // namespace flash_ref::reference
