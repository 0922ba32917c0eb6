// Elements in memory to float vectors and back, in registers. The two 16-bit formats are converted with
// integer arithmetic on whole vectors, float16 with the F16C instructions where the instruction set has them.
// Narrowing rounds to nearest, ties to even; NaN stays NaN. Subnormals are handled without float subnormals,
// so a process that flushes those to zero gets the same bits.
#pragma once

#include "kernels/cpu/isa/vector.h"

namespace flash_ref::cpu::FLASH_REF_ISA {

struct Float16 {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};

// Whether the product takes these elements as they are, two to a number of 32 bits, instead of widened.
template <class T>
constexpr bool kPairs = false;
#if defined(__AVX512BF16__)
template <>
constexpr bool kPairs<BFloat16> = true;
#endif

FLASH_REF_INLINE Halves load_halves(const void* from) {
  Halves value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

FLASH_REF_INLINE Vec widen(const float* from) { return load(from); }

FLASH_REF_INLINE Vec widen(const BFloat16* from) {
  return (Vec)(__builtin_convertvector(load_halves(from), Bits) << 16);
}

FLASH_REF_INLINE Vec widen(const Float16* from) {
#if defined(__AVX512F__)
  return _mm512_cvtph_ps((__m256i)load_halves(from));
#elif defined(__F16C__)
  return _mm256_cvtph_ps((__m128i)load_halves(from));
#else
  constexpr std::uint32_t kRebias = 112U << 23;  // float's exponent bias minus half's
  const Bits half = __builtin_convertvector(load_halves(from), Bits);
  const Bits sign = (half & 0x8000U) << 16, magnitude = half & 0x7fffU;
  // Infinity and NaN have the largest exponent in both formats: rebias twice.
  const Bits normal = (magnitude << 13) + kRebias + (magnitude >= 0x7c00U ? Bits{} + kRebias : Bits{});
  // A subnormal is its bits times 2^-24: put them into the fraction of 0.5, whose ulp that is, and take 0.5
  // off.
  const Vec subnormal = (Vec)(magnitude | 0x3f000000U) - 0.5F;
  return (Vec)(sign | (magnitude < 0x400U ? (Bits)subnormal : normal));
#endif
}

FLASH_REF_INLINE void narrow(float* to, Vec value) { store(to, value); }

// The number in the upper half; the lower half is of no account.
FLASH_REF_INLINE Bits rounded_to_bfloat16(Vec value) {
  const Bits bits = (Bits)value;
  const Bits rounded = bits + 0x7fffU + ((bits >> 16) & 1U);
  return (bits & 0x7fffffffU) > 0x7f800000U ? bits | 0x400000U : rounded;
}

FLASH_REF_INLINE void narrow(BFloat16* to, Vec value) {
  const Halves result = __builtin_convertvector(rounded_to_bfloat16(value) >> 16, Halves);
  __builtin_memcpy(to, &result, sizeof result);
}

FLASH_REF_INLINE void narrow(Float16* to, Vec value) {
#if defined(__AVX512F__)
  const Halves result = (Halves)_mm512_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT);
#elif defined(__F16C__)
  const Halves result = (Halves)_mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT);
#else
  constexpr std::uint32_t kRebias = 112U << 10;
  const Bits bits = (Bits)value;
  const Bits sign = (bits >> 16) & 0x8000U, magnitude = bits & 0x7fffffffU;
  // 0x477fefff is the largest float that rounds to 65504, the largest finite half.
  const Bits finite = magnitude > 0x477fefffU ? Bits{} + 0x47800000U : magnitude;
  const Bits normal = ((finite + 0xfffU + ((finite >> 13) & 1U)) >> 13) - kRebias;
  // Next to 0.5 floats are spaced 2^-24, as half's subnormals are: the addition rounds to them.
  const Bits subnormal = (Bits)((Vec)finite + 0.5F) - 0x3f000000U;
  const Bits number = magnitude < 0x38800000U ? subnormal : normal;
  const Bits quiet_nan = 0x7e00U | ((magnitude >> 13) & 0x3ffU);
  const Halves result =
      __builtin_convertvector(sign | (magnitude > 0x7f800000U ? quiet_nan : number), Halves);
#endif
  __builtin_memcpy(to, &result, sizeof result);
}

// Two vectors to 2 * kLanes bfloat16 numbers, for probabilities: the instruction, which may flush subnormals.
FLASH_REF_INLINE void narrow_both([[maybe_unused]] std::uint16_t* to, [[maybe_unused]] Vec a,
                                  [[maybe_unused]] Vec b) {
#if defined(__AVX512BF16__)
  const __m512bh result = _mm512_cvtne2ps_pbh(b, a);
  __builtin_memcpy(to, &result, sizeof result);
#endif
}

// kLanes pairs of bfloat16 numbers, the first of each from `low`.
FLASH_REF_INLINE Vec paired([[maybe_unused]] Vec low, [[maybe_unused]] Vec high) {
#if defined(__AVX512BF16__)
  const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7,
                                         22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  return (Vec)_mm512_permutexvar_epi16(order, (__m512i)_mm512_cvtne2ps_pbh(high, low));
#else
  return low;
#endif
}

// `count` elements, at most kLanes, at any stride; the other lanes are 0.
template <class T>
FLASH_REF_INLINE Vec widen_some(const T* from, std::int64_t stride, std::int64_t count) {
  if (stride == 1 && count == kLanes) return widen(from);
  T elements[kLanes] = {};
  for (std::int64_t i = 0; i < count; ++i) elements[i] = from[i * stride];
  return widen(elements);
}

// Numbers [first, first + kLanes) of a row of `dim` elements as the product takes them; 0 beyond the end.
template <class T>
FLASH_REF_INLINE Vec numbers(const T* row, std::int64_t stride, std::int64_t first, std::int64_t dim) {
  if constexpr (kPairs<T>) {
    if (stride == 1 && 2 * (first + kLanes) <= dim) {
      return load(reinterpret_cast<const float*>(row + 2 * first));
    }
    T elements[2 * kLanes] = {};
    const std::int64_t some = smaller(2 * kLanes, dim - 2 * first);
    for (std::int64_t i = 0; i < some; ++i) elements[i] = row[(2 * first + i) * stride];
    return load(reinterpret_cast<const float*>(elements));
  } else {
    return widen_some(row + first * stride, stride, smaller(kLanes, dim - first));
  }
}

// How many numbers `count` elements are.
template <class T>
FLASH_REF_INLINE std::int64_t numbers_of(std::int64_t count) {
  return kPairs<T> ? (count + 1) / 2 : count;
}

template <class T>
FLASH_REF_INLINE void narrow_some(T* to, std::int64_t stride, std::int64_t count, Vec value) {
  if (stride == 1 && count == kLanes) return narrow(to, value);
  T elements[kLanes];
  narrow(elements, value);
  for (std::int64_t i = 0; i < count; ++i) to[i * stride] = elements[i];
}

}  // namespace flash_ref::cpu::FLASH_REF_ISA
