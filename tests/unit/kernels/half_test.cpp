// Conversions and the exponential, against arithmetic in double that shares no code with them.
#include "kernels/cpu/half.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "kernels/cpu/exp2.h"
#include "kernels/reference/number_format.h"
#include "tests/catch.h"

using flash_ref::reference::decode;
using flash_ref::reference::encode;
using flash_ref::reference::NumberFormat;

namespace {

template <class T>
void require_widening(NumberFormat format) {
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const float actual = flash_ref::widen(T{static_cast<std::uint16_t>(bits)});
    const double expected = decode(format, bits);
    const bool same = std::isnan(expected)
                          ? std::isnan(actual)
                          : actual == expected && std::signbit(actual) == std::signbit(expected);
    if (!same) FAIL("bits " << bits << " widen to " << actual << ", expected " << expected);
  }
}

template <class T>
void require_narrowing(NumberFormat format, float value) {
  const std::uint32_t actual = flash_ref::narrow<T>(value).bits;
  if (std::isnan(value)) {
    if (!std::isnan(decode(format, actual))) FAIL("NaN narrows to bits " << actual);
  } else if (actual != encode(format, value)) {
    FAIL(value << " narrows to bits " << actual << ", expected " << encode(format, value));
  }
}

template <class T>
void require_narrowing_everywhere(NumberFormat format) {
  std::mt19937 random(3);
  for (int i = 0; i < 2000000; ++i) {
    const std::uint32_t bits = static_cast<std::uint32_t>(random());
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    require_narrowing<T>(format, value);
  }
  // Each number of the format, the midpoint to the next one, and the floats beside both.
  for (std::uint32_t bits = 0; bits < 0x7fffU; ++bits) {
    const double low = decode(format, bits), high = decode(format, bits + 1);
    if (!std::isfinite(low) || !std::isfinite(high)) continue;
    for (double point : {low, (low + high) / 2}) {
      const float value = static_cast<float>(point);
      for (float near : {value, std::nextafter(value, INFINITY), std::nextafter(value, -INFINITY)}) {
        require_narrowing<T>(format, near);
        require_narrowing<T>(format, -near);
      }
    }
  }
  for (float value :
       {65504.0F, 65519.0F, 65520.0F, 1e6F, std::numeric_limits<float>::max(), INFINITY, NAN, 0.0F}) {
    require_narrowing<T>(format, value);
    require_narrowing<T>(format, -value);
  }
}

}  // namespace

TEST_CASE("every float16 and bfloat16 widens exactly") {
  require_widening<flash_ref::Float16>(flash_ref::reference::kFloat16);
  require_widening<flash_ref::BFloat16>(flash_ref::reference::kBFloat16);
}

TEST_CASE("float narrows to the nearest, ties to even") {
  require_narrowing_everywhere<flash_ref::Float16>(flash_ref::reference::kFloat16);
  require_narrowing_everywhere<flash_ref::BFloat16>(flash_ref::reference::kBFloat16);
}

TEST_CASE("exp2 is within 2 ulp, exact at 0, 0 far below and NaN for NaN") {
  using flash_ref::exp2_nonpositive;
  for (float x = 0.0F; x > -126.0F; x -= 0.00137F) {
    const double expected = std::exp2(static_cast<double>(x));
    const double error = std::abs(exp2_nonpositive(x) - expected);
    if (error > 2 * ulp(flash_ref::reference::kFloat32, expected))
      FAIL("exp2(" << x << ") is off by " << error);
  }
  CHECK(exp2_nonpositive(0.0F) == 1.0F);
  CHECK(exp2_nonpositive(-200.0F) == 0.0F);
  CHECK(exp2_nonpositive(-INFINITY) == 0.0F);
  CHECK(std::isnan(exp2_nonpositive(NAN)));
}
