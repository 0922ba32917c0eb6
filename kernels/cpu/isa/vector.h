// The vector of one instruction set, and the few operations that GNU vector arithmetic does not spell. The
// code in isa/ is written once against this file and compiled once per instruction set, each time with other
// compiler flags and in a namespace of its own, FLASH_REF_ISA.
//
// The rule of this folder: nothing that another object file may define as well. A function that two objects
// share, be it std::min or a member of std::array, is emitted in both, the linker keeps either, and a machine
// without AVX-512 then runs AVX-512 code. So the folder uses plain arrays and its own helpers only; the test
// kernels/isa_objects reads the symbols.
#pragma once

#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#ifndef FLASH_REF_ISA
#error "compile isa/table.cpp with -DFLASH_REF_ISA=name; nothing else includes this folder"
#endif

#define FLASH_REF_INLINE inline __attribute__((always_inline))

namespace flash_ref::cpu::FLASH_REF_ISA {

// The product's block of registers is kRows x kVectors, which leaves room for a row of B and one number of A.
#if defined(__AVX512F__)
constexpr int kLanes = 16, kRows = 12, kVectors = 2;
#elif defined(__AVX2__)
constexpr int kLanes = 8, kRows = 6, kVectors = 2;
#else
constexpr int kLanes = 4, kRows = 4, kVectors = 2;
#endif

typedef float Vec __attribute__((vector_size(kLanes * 4)));
typedef std::uint32_t Bits __attribute__((vector_size(kLanes * 4)));
typedef std::uint16_t Halves __attribute__((vector_size(kLanes * 2)));

FLASH_REF_INLINE std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
FLASH_REF_INLINE std::int64_t larger(std::int64_t a, std::int64_t b) { return a > b ? a : b; }
FLASH_REF_INLINE std::int64_t round_up(std::int64_t count, std::int64_t step) {
  return (count + step - 1) / step * step;
}

FLASH_REF_INLINE Vec load(const float* from) {
  Vec value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}
FLASH_REF_INLINE void store(float* to, Vec value) { __builtin_memcpy(to, &value, sizeof value); }
FLASH_REF_INLINE Vec broadcast(float value) { return value - Vec{}; }

FLASH_REF_INLINE Vec multiply_add(Vec a, Vec b, Vec c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_ps(a, b, c);
#elif defined(__AVX2__)
  return _mm256_fmadd_ps(a, b, c);
#else
  return a * b + c;
#endif
}

// Two bfloat16 numbers in each lane, the first one in the low bits; products are added in float.
FLASH_REF_INLINE Vec multiply_add_pairs([[maybe_unused]] Vec a, [[maybe_unused]] Vec b, Vec c) {
#if defined(__AVX512BF16__)
  return _mm512_dpbf16_ps(c, (__m512bh)a, (__m512bh)b);
#else
  return c;
#endif
}

// b where either is NaN.
FLASH_REF_INLINE Vec maximum(Vec a, Vec b) {
#if defined(__AVX512F__)
  return _mm512_max_ps(a, b);
#elif defined(__AVX2__)
  return _mm256_max_ps(a, b);
#else
  return a > b ? a : b;
#endif
}

FLASH_REF_INLINE Vec magnitude(Vec value) { return (Vec)((Bits)value & 0x7fffffffU); }

// 0, 1, 2, ...
FLASH_REF_INLINE Vec lane_numbers() {
  Vec numbers = {};
  for (int lane = 0; lane < kLanes; ++lane) numbers[lane] = static_cast<float>(lane);
  return numbers;
}

FLASH_REF_INLINE float largest_lane(Vec value) {
  float result = value[0];
  for (int lane = 1; lane < kLanes; ++lane) result = value[lane] > result ? value[lane] : result;
  return result;
}

template <int kWidth, int... kLane>
FLASH_REF_INLINE Vec with_lanes_from(Vec value) {
  return value + __builtin_shufflevector(value, value, ((kLane + kWidth) % kLanes)...);
}

// Each lane and the one kWidth after it.
template <int kWidth>
FLASH_REF_INLINE Vec folded(Vec value) {
#if defined(__AVX512F__)
  return with_lanes_from<kWidth, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15>(value);
#elif defined(__AVX2__)
  return with_lanes_from<kWidth, 0, 1, 2, 3, 4, 5, 6, 7>(value);
#else
  return with_lanes_from<kWidth, 0, 1, 2, 3>(value);
#endif
}

// In halves, so that the order of additions is that of a tree.
FLASH_REF_INLINE float sum_of_lanes(Vec value) {
  if constexpr (kLanes > 8) value = folded<8>(value);
  if constexpr (kLanes > 4) value = folded<4>(value);
  return folded<1>(folded<2>(value))[0];
}

// One step of a transposition: exchanges the blocks of `kStep` lanes beside the diagonal between two rows.
template <int kStep, int... kLane>
struct Exchange {
  static FLASH_REF_INLINE void rows(Vec& a, Vec& b) {
    const Vec first =
        __builtin_shufflevector(a, b, ((kLane & kStep) == 0 ? kLane : kLanes + kLane - kStep)...);
    b = __builtin_shufflevector(a, b, ((kLane & kStep) == 0 ? kLane + kStep : kLanes + kLane)...);
    a = first;
  }
};

template <int kStep>
FLASH_REF_INLINE void exchange_pair(Vec& a, Vec& b) {
#if defined(__AVX512F__)
  Exchange<kStep, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15>::rows(a, b);
#elif defined(__AVX2__)
  Exchange<kStep, 0, 1, 2, 3, 4, 5, 6, 7>::rows(a, b);
#else
  Exchange<kStep, 0, 1, 2, 3>::rows(a, b);
#endif
}

template <int kStep>
FLASH_REF_INLINE void exchange(Vec (&rows)[kLanes]) {
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) {
    if ((i & kStep) == 0) exchange_pair<kStep>(rows[i], rows[i + kStep]);
  }
}

FLASH_REF_INLINE void transpose(Vec (&rows)[kLanes]) {
  if constexpr (kLanes > 8) exchange<8>(rows);
  if constexpr (kLanes > 4) exchange<4>(rows);
  exchange<2>(rows);
  exchange<1>(rows);
}

}  // namespace flash_ref::cpu::FLASH_REF_ISA
