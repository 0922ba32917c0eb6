#include "kernels/reference/number_format.h"

#include <cmath>
#include <limits>

namespace flash_ref::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The exponent field of infinity and NaN: all ones.
std::uint32_t largest_field(NumberFormat format) {
  return static_cast<std::uint32_t>(2 * (1 - format.min_exponent) + 1);
}

}  // namespace

std::uint32_t encode(NumberFormat format, double value) {
  const int fraction_bits = format.digits - 1;
  const std::uint32_t sign = std::signbit(value) ? (largest_field(format) + 1) << fraction_bits : 0U;
  const std::uint32_t infinity = largest_field(format) << fraction_bits;
  if (std::isnan(value)) return sign | infinity | 1U << (fraction_bits - 1);
  const double rounded = std::abs(round_to(format, value));
  if (rounded == kInfinity) return sign | infinity;
  const auto significand = static_cast<std::uint32_t>(rounded / ulp(format, rounded));
  if (significand >> fraction_bits == 0) return sign | significand;  // zero or subnormal
  const auto field = static_cast<std::uint32_t>(exponent_of(rounded) - format.min_exponent + 1);
  return sign | (field << fraction_bits) | (significand & ((1U << fraction_bits) - 1));
}

double decode(NumberFormat format, std::uint32_t bits) {
  const int fraction_bits = format.digits - 1;
  const std::uint32_t fraction = bits & ((1U << fraction_bits) - 1);
  const std::uint32_t field = (bits >> fraction_bits) & largest_field(format);
  const double sign = (bits >> fraction_bits) > largest_field(format) ? -1.0 : 1.0;
  if (field == largest_field(format)) {
    return fraction == 0 ? sign * kInfinity : std::numeric_limits<double>::quiet_NaN();
  }
  const double significand = field == 0 ? fraction : fraction + (1U << fraction_bits);
  const int exponent = std::max(static_cast<int>(field), 1) - 1 + format.min_exponent - fraction_bits;
  return sign * significand * power_of_two(exponent);
}

}  // namespace flash_ref::reference
