// The two products of a decoding step, without packing: a few rows (queries) times keys, and their
// probabilities times values, which are read from where they lie and converted in registers. Each vector of K
// or V that was read is used for all rows of the block.
#pragma once

#include "kernels/cpu/isa/columns.h"

namespace flash_ref::cpu::FLASH_REF_ISA {

constexpr int kValueKeys = 8;   // values of a step
constexpr int kStreamRows = 4;  // rows that a vector of K or V is used for
#if defined(__AVX512F__)
constexpr int kScoreKeys = 4, kColumns = 4;  // keys of a step, and columns of sums that are held in registers
#else
constexpr int kScoreKeys = 2, kColumns = 2;
#endif

// Rows that come soon, asked for in the order in which they lie: with several heads side by side a step jumps
// from key to key, which the processor does not foresee. Far ones go to the second-level cache, which takes
// more requests at a time than the first; the next step's then come from there to the first.
template <class T, int kLocality>
struct RowsAhead {
  const T* const* rows;
  std::int64_t count;  // of rows
  std::int64_t head_stride, heads, dim;
  std::int64_t row = 0, head = 0;

  FLASH_REF_INLINE void ask(std::int64_t some) {
    for (; some > 0 && row < count; --some) {
      const auto from = reinterpret_cast<std::uintptr_t>(rows[row] + head * head_stride);
      for (std::int64_t at = 0; at < dim * static_cast<std::int64_t>(sizeof(T)); at += 64) {
        __builtin_prefetch(reinterpret_cast<const void*>(from + static_cast<std::uintptr_t>(at)), 0,
                           kLocality);
      }
      if (++head < heads) continue;
      head = 0;
      ++row;
    }
  }
};

template <class T>
using FarRows = RowsAhead<T, 2>;
template <class T>
using NearRows = RowsAhead<T, 3>;

// Scores of the kScoreKeys keys of a step for `kBlockRows` rows, in rows that are `stride` floats apart.
template <class T, int kBlockRows>
void score_keys(const float* q, std::int64_t width, const T* const* keys, float* scores, std::int64_t stride,
                [[maybe_unused]] float factor) {
  constexpr int kSums = kScoreKeys * (kBlockRows == 3 ? 4 : kBlockRows);
  Vec c[kSums];  // of row i and key j at i * kScoreKeys + j
#pragma GCC unroll 16
  for (int i = 0; i < kSums; ++i) c[i] = Vec{};
  for (std::int64_t d = 0; d < width; d += Columns<T>::kElements) {
    Vec numbers[kScoreKeys][Columns<T>::kVectors];
#pragma GCC unroll 4
    for (int j = 0; j < kScoreKeys; ++j) Columns<T>::load_factors(keys[j] + d, numbers[j]);
#pragma GCC unroll 2
    for (int part = 0; part < Columns<T>::kVectors; ++part) {
      const float* column = q + d / Columns<T>::kElements * Columns<T>::kVectors * kLanes + part * kLanes;
#pragma GCC unroll 4
      for (int i = 0; i < kBlockRows; ++i) {
        const Vec number = load(column + i * width);
#pragma GCC unroll 4
        for (int j = 0; j < kScoreKeys; ++j) {
          Vec& sum = c[i * kScoreKeys + j];
          sum = kPairs<T> ? multiply_add_pairs(numbers[j][part], number, sum)
                          : multiply_add(numbers[j][part], number, sum);
        }
      }
    }
  }
  constexpr int kAtATime = kSums < kLanes ? kSums : kLanes, kApart = kLanes / kAtATime;
#pragma GCC unroll 4
  for (int first = 0; first < kSums; first += kAtATime) {
    Vec some[kAtATime];
#pragma GCC unroll 16
    for (int i = 0; i < kAtATime; ++i) some[i] = c[first + i];
    const Vec sums = sums_of_rows(some);
    float lanes[kLanes];
    store(lanes, kPairs<T> ? sums * broadcast(factor) : sums);
#pragma GCC unroll 16
    for (int i = 0; i < kAtATime; ++i) {
      const int row = (first + i) / kScoreKeys;
      if (row < kBlockRows) scores[row * stride + (first + i) % kScoreKeys] = lanes[i * kApart];
    }
  }
}

// out = factor * out + probabilities * V for keys [from, to) of a step, in `kVectors` vectors of columns.
template <class T, int kBlockRows, int kVectors>
FLASH_REF_INLINE void add_columns(const float* probabilities, std::int64_t stride, const float* factors,
                                  const T* const* values, std::int64_t offset, std::int64_t from,
                                  std::int64_t to, float* out, std::int64_t width) {
  Vec c[kBlockRows][kVectors];
#pragma GCC unroll 4
  for (int i = 0; i < kBlockRows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) c[i][j] = load(out + i * width + j * kLanes) * broadcast(factors[i]);
  }
  constexpr int kKeys = kPairs<T> ? 2 : 1;
  for (std::int64_t key = from; key < to; key += kKeys) {
    Vec numbers[kVectors];
    const bool has_second = key + 1 < to;
    if constexpr (kPairs<T>) {
      Columns<T>::template load_pairs<kVectors>(values[key] + offset,
                                                has_second ? values[key + 1] + offset : nullptr, numbers);
    } else {
      Columns<T>::template load_values<kVectors>(values[key] + offset, numbers);
    }
#pragma GCC unroll 4
    for (int i = 0; i < kBlockRows; ++i) {
      const Vec number = broadcast(probability_number<T>(probabilities + i * stride, key, has_second));
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
        c[i][j] = kPairs<T> ? multiply_add_pairs(number, numbers[j], c[i][j])
                            : multiply_add(number, numbers[j], c[i][j]);
      }
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < kBlockRows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) store(out + i * width + j * kLanes, c[i][j]);
  }
}

// `probabilities` belong to the first key of the step.
template <class T, int kBlockRows>
void add_values(const float* probabilities, std::int64_t stride, const float* factors, const T* const* values,
                std::int64_t from, std::int64_t to, float* out, std::int64_t width) {
  std::int64_t column = 0;
  for (; column + kColumns * kLanes <= width; column += kColumns * kLanes) {
    add_columns<T, kBlockRows, kColumns>(probabilities, stride, factors, values, column, from, to,
                                         out + column, width);
  }
  for (; column < width; column += 2 * kLanes) {
    add_columns<T, kBlockRows, 2>(probabilities, stride, factors, values, column, from, to, out + column,
                                  width);
  }
}

}  // namespace flash_ref::cpu::FLASH_REF_ISA
