// How the elements of a row of K or V become vectors of numbers without a shuffle across lanes: the order of
// the columns is whatever comes cheapest, the same for q as for K, and for V it is undone once, when a row is
// finished. A row is padded to a multiple of two vectors.
//
//   float16            in order
//   bfloat16           of each two vectors the even elements, then the odd ones (a shift and a mask)
//   bfloat16 in pairs  K in order, two numbers to a lane; of V two keys to a lane, in the order in which the
//                      unpack instructions give the columns
#pragma once

#include "kernels/cpu/isa/convert.h"

namespace flash_ref::cpu::FLASH_REF_ISA {

FLASH_REF_INLINE Bits load_bits(const void* from) {
  Bits value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
struct Columns {
  static constexpr int kElements = kLanes, kVectors = 1;  // of a step along a row: elements, vectors of them

  static FLASH_REF_INLINE void load_factors(const T* from, Vec* numbers) { numbers[0] = widen(from); }

  template <int kCount>
  static FLASH_REF_INLINE void load_values(const T* from, Vec* numbers) {
#pragma GCC unroll 4
    for (int i = 0; i < kCount; ++i) numbers[i] = widen(from + i * kLanes);
  }

  // Where the sum of column `d` is.
  static FLASH_REF_INLINE std::int64_t place(std::int64_t d) { return d; }
};

#if defined(__AVX512BF16__)
template <>
struct Columns<BFloat16> {
  static constexpr int kElements = 2 * kLanes, kVectors = 1;

  static FLASH_REF_INLINE void load_factors(const BFloat16* from, Vec* numbers) {
    numbers[0] = (Vec)load_bits(from);
  }

  // Two keys at a time; the second may be absent.
  template <int kCount>
  static FLASH_REF_INLINE void load_pairs(const BFloat16* first, const BFloat16* second, Vec* numbers) {
#pragma GCC unroll 4
    for (int i = 0; i < kCount; i += 2) {
      const auto a = (__m512i)load_bits(first + i * kLanes);
      const auto b = second != nullptr ? (__m512i)load_bits(second + i * kLanes) : __m512i{};
      numbers[i] = (Vec)_mm512_unpacklo_epi16(a, b);
      numbers[i + 1] = (Vec)_mm512_unpackhi_epi16(a, b);
    }
  }

  // Of eight columns, which lie in 128 bits, the first four are in one vector and the others in the next.
  static FLASH_REF_INLINE std::int64_t place(std::int64_t d) {
    const std::int64_t block = d / (2 * kLanes) * (2 * kLanes), within = d % (2 * kLanes);
    return block + within % 8 / 4 * kLanes + within / 8 * 4 + within % 4;
  }
};
#else
template <>
struct Columns<BFloat16> {
  static constexpr int kElements = 2 * kLanes, kVectors = 2;

  static FLASH_REF_INLINE void load_factors(const BFloat16* from, Vec* numbers) {
    const Bits both = load_bits(from);
    numbers[0] = (Vec)(both << 16);
    numbers[1] = (Vec)(both & 0xffff0000U);
  }

  template <int kCount>
  static FLASH_REF_INLINE void load_values(const BFloat16* from, Vec* numbers) {
#pragma GCC unroll 4
    for (int i = 0; i < kCount; i += 2) load_factors(from + i * kLanes, numbers + i);
  }

  static FLASH_REF_INLINE std::int64_t place(std::int64_t d) {
    const std::int64_t block = d / (2 * kLanes) * (2 * kLanes), within = d % (2 * kLanes);
    return block + within % 2 * kLanes + within / 2;
  }
};
#endif

// The number that multiplies V's: a probability, or those of two keys.
template <class T>
FLASH_REF_INLINE float probability_number(const float* probabilities, std::int64_t key,
                                          [[maybe_unused]] bool has_second) {
  if constexpr (kPairs<T>) {
    const auto* halves = reinterpret_cast<const std::uint16_t*>(probabilities) + key;
    std::uint32_t pair = *halves;
    if (has_second) __builtin_memcpy(&pair, halves, sizeof pair);
    return __builtin_bit_cast(float, pair);
  } else {
    return probabilities[key];
  }
}

template <int kStep, int kCount>
FLASH_REF_INLINE void fold(Vec (&rows)[kCount]) {
  constexpr int kHalf = kCount * kStep / kLanes;
#pragma GCC unroll 16
  for (int i = 0; i < kHalf; ++i) {
    Vec a = rows[i], b = rows[i + kHalf];
    exchange_pair<kStep>(a, b);
    rows[i] = a + b;
  }
  if constexpr (kHalf == 0) {
    Vec a = rows[0], b = rows[0];
    exchange_pair<kStep>(a, b);
    rows[0] = a + b;
  }
}

#if defined(__AVX512F__)
// For as many vectors as lanes: shuffles within 128 bits first, which are the cheaper ones.
FLASH_REF_INLINE Vec sums_of_all_rows(const Vec (&rows)[kLanes]) {
  Vec pairs[8], fours[4];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    const __m512 a = rows[2 * i], b = rows[2 * i + 1];
    pairs[i] = (Vec)_mm512_unpacklo_ps(a, b) + (Vec)_mm512_unpackhi_ps(a, b);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const auto a = (__m512d)pairs[2 * i], b = (__m512d)pairs[2 * i + 1];
    fours[i] = (Vec)_mm512_unpacklo_pd(a, b) + (Vec)_mm512_unpackhi_pd(a, b);
  }
  // Each block of 128 bits has a part of the sums of four rows.
  const Vec low = (Vec)_mm512_shuffle_f32x4(fours[0], fours[1], 0x44) +
                  (Vec)_mm512_shuffle_f32x4(fours[0], fours[1], 0xee);
  const Vec high = (Vec)_mm512_shuffle_f32x4(fours[2], fours[3], 0x44) +
                   (Vec)_mm512_shuffle_f32x4(fours[2], fours[3], 0xee);
  return (Vec)_mm512_shuffle_f32x4(low, high, 0x88) + (Vec)_mm512_shuffle_f32x4(low, high, 0xdd);
}
#endif

// The sums of the lanes of kCount vectors, a power of two up to kLanes: that of vector i is in each of the
// lanes from i * kLanes / kCount on.
template <int kCount>
FLASH_REF_INLINE Vec sums_of_rows(Vec (&rows)[kCount]) {
#if defined(__AVX512F__)
  if constexpr (kCount == kLanes) return sums_of_all_rows(rows);
#endif
  if constexpr (kLanes > 8) fold<8>(rows);
  if constexpr (kLanes > 4) fold<4>(rows);
  fold<2>(rows);
  fold<1>(rows);
  return rows[0];
}

}  // namespace flash_ref::cpu::FLASH_REF_ISA
