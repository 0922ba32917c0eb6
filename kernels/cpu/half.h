// The two 16-bit formats and their conversions to and from float. Both directions are branch-free integer
// arithmetic so that the compiler vectorises loops over them on any instruction set; narrowing rounds to
// nearest, ties to even. Subnormals are handled without float subnormals, so a process that flushes those to
// zero gets the same bits.
#pragma once

#include <bit>
#include <cstdint>

namespace flash_ref {

struct Float16 {
  std::uint16_t bits;
};

struct BFloat16 {
  std::uint16_t bits;
};

inline float widen(float value) { return value; }

inline float widen(BFloat16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

inline float widen(Float16 value) {
  constexpr std::uint32_t kRebias = 112U << 23;  // float's exponent bias minus half's
  const std::uint32_t sign = (static_cast<std::uint32_t>(value.bits) & 0x8000U) << 16;
  const std::uint32_t magnitude = value.bits & 0x7fffU;
  // Infinity and NaN have the largest exponent in both formats: rebias twice.
  const std::uint32_t normal = (magnitude << 13) + kRebias + (magnitude >= 0x7c00U ? kRebias : 0U);
  const float subnormal = static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24F;
  return std::bit_cast<float>(sign | (magnitude < 0x400U ? std::bit_cast<std::uint32_t>(subnormal) : normal));
}

template <class T>
T narrow(float value);

template <>
inline float narrow<float>(float value) {
  return value;
}

template <>
inline BFloat16 narrow<BFloat16>(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  const std::uint32_t quiet_nan = (bits >> 16) | 0x40U;
  const bool is_nan = (bits & 0x7fffffffU) > 0x7f800000U;
  return {static_cast<std::uint16_t>(is_nan ? quiet_nan : rounded)};
}

template <>
inline Float16 narrow<Float16>(float value) {
  constexpr std::uint32_t kRebias = 112U << 10;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  // 0x477fefff is the largest float that rounds to 65504, the largest finite half.
  const std::uint32_t finite = magnitude > 0x477fefffU ? 0x47800000U : magnitude;
  const std::uint32_t normal = ((finite + 0xfffU + ((finite >> 13) & 1U)) >> 13) - kRebias;
  // Next to 0.5 floats are spaced 2^-24, as half's subnormals are: the addition rounds to them.
  const float shifted = std::bit_cast<float>(finite) + 0.5F;
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(shifted) - 0x3f000000U;
  const std::uint32_t number = magnitude < 0x38800000U ? subnormal : normal;
  const std::uint32_t quiet_nan = 0x7e00U | ((magnitude >> 13) & 0x3ffU);
  return {static_cast<std::uint16_t>(sign | (magnitude > 0x7f800000U ? quiet_nan : number))};
}

}  // namespace flash_ref
