#include "kernels/reference/number_format.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace flash_ref::reference {

double ulp(NumberFormat format, double value) {
  const int exponent = value == 0 ? format.min_exponent : std::max(std::ilogb(value), format.min_exponent);
  return std::ldexp(1.0, exponent - format.digits + 1);
}

double round_to(NumberFormat format, double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double quantum = ulp(format, value);
  const double rounded = std::nearbyint(value / quantum) * quantum;
  if (std::abs(rounded) <= format.largest) return rounded;
  return std::copysign(std::numeric_limits<double>::infinity(), value);
}

}  // namespace flash_ref::reference
