// Conversions and functions that the kernels are made of, in every instruction set that this machine has,
// against arithmetic in double that shares no code with them.
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "kernels/cpu/isa.h"
#include "kernels/reference/number_format.h"
#include "tests/catch.h"

using flash_ref::cpu::Isa;
using flash_ref::reference::decode;
using flash_ref::reference::encode;
using flash_ref::reference::NumberFormat;

namespace {

template <class Function>
void for_each_isa(const Function& check) {
  for (const Isa* isa = flash_ref::cpu::all_isas(); isa->table != nullptr; ++isa) {
    if (!isa->supported) {
      WARN("skipped: this machine has no " << isa->name);
      continue;
    }
    INFO(isa->name);
    check(*isa->table);
  }
}

using Widen = void (*)(const std::uint16_t*, float*, std::int64_t);
using Narrow = void (*)(const float*, std::uint16_t*, std::int64_t);

void require_widening(Widen widen, NumberFormat format) {
  std::vector<std::uint16_t> halves(0x10000);
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) halves[bits] = static_cast<std::uint16_t>(bits);
  std::vector<float> floats(halves.size());
  widen(halves.data(), floats.data(), 0x10000);
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const float actual = floats[bits];
    const double expected = decode(format, bits);
    const bool same = std::isnan(expected)
                          ? std::isnan(actual)
                          : actual == expected && std::signbit(actual) == std::signbit(expected);
    if (!same) FAIL("bits " << bits << " widen to " << actual << ", expected " << expected);
  }
}

// Random bits; each number of the format, the midpoint to the next one, and the floats beside both.
std::vector<float> narrowing_cases(NumberFormat format) {
  std::vector<float> values;
  std::mt19937 random(3);
  for (int i = 0; i < 1000000; ++i) {
    const std::uint32_t bits = static_cast<std::uint32_t>(random());
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    values.push_back(value);
  }
  for (std::uint32_t bits = 0; bits < 0x7fffU; ++bits) {
    const double low = decode(format, bits), high = decode(format, bits + 1);
    if (!std::isfinite(low) || !std::isfinite(high)) continue;
    for (double point : {low, (low + high) / 2}) {
      const float value = static_cast<float>(point);
      for (float near : {value, std::nextafter(value, INFINITY), std::nextafter(value, -INFINITY)}) {
        values.push_back(near);
        values.push_back(-near);
      }
    }
  }
  for (float value :
       {65504.0F, 65519.0F, 65520.0F, 1e6F, std::numeric_limits<float>::max(), INFINITY, NAN, 0.0F}) {
    values.push_back(value);
    values.push_back(-value);
  }
  return values;
}

void require_narrowing(Narrow narrow, NumberFormat format, const std::vector<float>& values) {
  std::vector<std::uint16_t> halves(values.size());
  narrow(values.data(), halves.data(), static_cast<std::int64_t>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) {
      if (!std::isnan(decode(format, halves[i]))) FAIL("NaN narrows to bits " << halves[i]);
    } else if (halves[i] != encode(format, values[i])) {
      FAIL(values[i] << " narrows to bits " << halves[i] << ", expected " << encode(format, values[i]));
    }
  }
}

using Map = void (*)(const float*, float*, std::int64_t);

float apply(Map function, float x) {
  float result = 0;
  function(&x, &result, 1);
  return result;
}

}  // namespace

TEST_CASE("every float16 and bfloat16 widens exactly") {
  for_each_isa([](const flash_ref::cpu::IsaTable& table) {
    require_widening(table.widen_float16, flash_ref::reference::kFloat16);
    require_widening(table.widen_bfloat16, flash_ref::reference::kBFloat16);
  });
}

TEST_CASE("float narrows to the nearest, ties to even") {
  const auto half_cases = narrowing_cases(flash_ref::reference::kFloat16);
  const auto bfloat_cases = narrowing_cases(flash_ref::reference::kBFloat16);
  for_each_isa([&](const flash_ref::cpu::IsaTable& table) {
    require_narrowing(table.narrow_float16, flash_ref::reference::kFloat16, half_cases);
    require_narrowing(table.narrow_bfloat16, flash_ref::reference::kBFloat16, bfloat_cases);
  });
}

TEST_CASE("exp2 is within 3 ulp, exact at 0, 0 far below and NaN for NaN") {
  std::vector<float> arguments;
  for (float x = 0.0F; x > -126.0F; x -= 0.00137F) arguments.push_back(x);
  for_each_isa([&](const flash_ref::cpu::IsaTable& table) {
    std::vector<float> results(arguments.size());
    table.exp2_nonpositive(arguments.data(), results.data(), static_cast<std::int64_t>(arguments.size()));
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const double expected = std::exp2(static_cast<double>(arguments[i]));
      const double error = std::abs(results[i] - expected);
      if (error > 3 * ulp(flash_ref::reference::kFloat32, expected))
        FAIL("exp2(" << arguments[i] << ") is off by " << error);
    }
    CHECK(apply(table.exp2_nonpositive, 0.0F) == 1.0F);
    CHECK(apply(table.exp2_nonpositive, -200.0F) == 0.0F);
    CHECK(apply(table.exp2_nonpositive, -INFINITY) == 0.0F);
    CHECK(std::isnan(apply(table.exp2_nonpositive, NAN)));
    for (float x = -126.0F; x > -127.0F; x -= 0.01F) {
      const float result = apply(table.exp2_nonpositive, x);
      CHECK((result >= 0.0F && result <= 0x1p-126F));
    }
  });
}

TEST_CASE("tanh is within 2e-7 of its value, absolute, and 5e-7, relative") {
  for_each_isa([](const flash_ref::cpu::IsaTable& table) {
    for (float x = -20.0F; x < 20.0F; x += 0.00731F) {
      const double expected = std::tanh(static_cast<double>(x));
      const double error = std::abs(apply(table.tanh, x) - expected);
      if (error > 2e-7 || error > 5e-7 * std::abs(expected)) FAIL("tanh(" << x << ") is off by " << error);
    }
    CHECK(apply(table.tanh, INFINITY) == 1.0F);
    CHECK(apply(table.tanh, -INFINITY) == -1.0F);
    CHECK(std::isnan(apply(table.tanh, NAN)));
  });
}
