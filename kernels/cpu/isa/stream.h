// The two products of a decoding step, without packing: a few rows (queries) times keys, and their
// probabilities times values, which are read from where they lie and converted in registers. Each vector of K
// or V that was read is used for all rows of the block.
#pragma once

#include "kernels/cpu/isa/columns.h"

namespace flash_ref::cpu::FLASH_REF_ISA {

constexpr int kStreamKeys = 16;  // keys of a step; a multiple of every kLanes
constexpr int kStreamRows = 4;   // rows that a vector of K or V is used for
#if defined(__AVX512F__)
constexpr int kSums = 16, kColumns = 4;  // sums, and columns of sums, that are held in registers
#else
constexpr int kSums = 8, kColumns = 2;
#endif

// The rows of the next step, asked for in the order in which they lie while this step runs: with several
// heads side by side a step jumps from key to key, which the processor does not foresee. They go to the
// second-level cache, which takes more requests at a time than the first.
template <class T>
struct RowsAhead {
  const T* const* rows;  // null: nothing comes next
  std::int64_t head_stride, heads, dim;
  std::int64_t row = 0, head = 0;

  FLASH_REF_INLINE void ask(std::int64_t count) {
    if (rows == nullptr) return;
    for (; count > 0 && row < kStreamKeys; --count) {
      const auto from = reinterpret_cast<std::uintptr_t>(rows[row] + head * head_stride);
      for (std::int64_t at = 0; at < dim * static_cast<std::int64_t>(sizeof(T)); at += 64) {
        __builtin_prefetch(reinterpret_cast<const void*>(from + static_cast<std::uintptr_t>(at)), 0, 2);
      }
      if (++head < heads) continue;
      head = 0;
      ++row;
    }
  }
};

// Scores of `kCount` keys for `kBlockRows` rows: one sum of vectors each, still to be added up lane by lane.
template <class T, int kBlockRows, int kCount>
FLASH_REF_INLINE void multiply_keys(const float* q, std::int64_t width, const T* const* keys, Vec* sums) {
  Vec c[kCount][kBlockRows];
#pragma GCC unroll 16
  for (int j = 0; j < kCount; ++j) {
#pragma GCC unroll 4
    for (int i = 0; i < kBlockRows; ++i) c[j][i] = Vec{};
  }
  for (std::int64_t d = 0; d < width; d += Columns<T>::kElements) {
    Vec numbers[kCount][Columns<T>::kVectors];
#pragma GCC unroll 16
    for (int j = 0; j < kCount; ++j) Columns<T>::load_factors(keys[j] + d, numbers[j]);
#pragma GCC unroll 2
    for (int part = 0; part < Columns<T>::kVectors; ++part) {
#pragma GCC unroll 4
      for (int i = 0; i < kBlockRows; ++i) {
        const Vec number =
            load(q + i * width + d / Columns<T>::kElements * Columns<T>::kVectors * kLanes + part * kLanes);
#pragma GCC unroll 16
        for (int j = 0; j < kCount; ++j) {
          c[j][i] = kPairs<T> ? multiply_add_pairs(numbers[j][part], number, c[j][i])
                              : multiply_add(numbers[j][part], number, c[j][i]);
        }
      }
    }
  }
#pragma GCC unroll 16
  for (int j = 0; j < kCount; ++j) {
#pragma GCC unroll 4
    for (int i = 0; i < kBlockRows; ++i) sums[i * kLanes + j] = c[j][i];
  }
}

// Scores of the kStreamKeys keys of a step, in rows that are `stride` floats apart.
template <class T, int kBlockRows>
void score_keys(const float* q, std::int64_t width, const T* const* keys, float* scores, std::int64_t stride,
                [[maybe_unused]] float factor, RowsAhead<T>& ahead) {
  constexpr int kWanted = kSums / (kBlockRows == 3 ? 4 : kBlockRows);
  constexpr int kCount = kWanted < kLanes ? kWanted : kLanes;
  for (int key = 0; key < kStreamKeys; key += kLanes) {
    Vec sums[kBlockRows][kLanes];
    for (int j = 0; j < kLanes; j += kCount) {
      ahead.ask(kCount);
      multiply_keys<T, kBlockRows, kCount>(q, width, keys + key + j, &sums[0][j]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < kBlockRows; ++i) {
      const Vec score = sums_of_rows(sums[i]);
      store(scores + i * stride + key, kPairs<T> ? score * broadcast(factor) : score);
    }
  }
}

// out = factor * out + probabilities * V for keys [from, to) of a step, in `kVectors` vectors of columns.
template <class T, int kBlockRows, int kVectors>
FLASH_REF_INLINE void add_columns(const float* probabilities, std::int64_t stride, const float* factors,
                                  const T* const* values, std::int64_t offset, std::int64_t from,
                                  std::int64_t to, float* out, std::int64_t width, RowsAhead<T>& ahead) {
  Vec c[kBlockRows][kVectors];
#pragma GCC unroll 4
  for (int i = 0; i < kBlockRows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) c[i][j] = load(out + i * width + j * kLanes) * broadcast(factors[i]);
  }
  constexpr int kKeys = kPairs<T> ? 2 : 1;
  for (std::int64_t key = from; key < to; key += kKeys) {
    Vec numbers[kVectors];
    ahead.ask(kKeys);
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
                std::int64_t from, std::int64_t to, float* out, std::int64_t width, RowsAhead<T>& ahead) {
  std::int64_t column = 0;
  RowsAhead<T> nothing{nullptr, 0, 0, 0};
  for (; column + kColumns * kLanes <= width; column += kColumns * kLanes) {
    add_columns<T, kBlockRows, kColumns>(probabilities, stride, factors, values, column, from, to,
                                         out + column, width, column == 0 ? ahead : nothing);
  }
  for (; column < width; column += 2 * kLanes) {
    add_columns<T, kBlockRows, 2>(probabilities, stride, factors, values, column, from, to, out + column,
                                  width, column == 0 ? ahead : nothing);
  }
}

}  // namespace flash_ref::cpu::FLASH_REF_ISA
