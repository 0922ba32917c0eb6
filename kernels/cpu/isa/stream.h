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

// Rows of K or V that come soon, asked for in the order in which they lie: the products go head by head,
// whose jumps from key to key the processor does not foresee. They go to the second-level cache, which takes
// more requests at a time than the first.
template <class T>
struct RowsAhead {
  const T* const* rows = nullptr;
  std::int64_t count = 0;  // of rows
  std::int64_t head_stride = 0, heads = 0, lines = 0;
  std::int64_t row = 0, head = 0;

  FLASH_REF_INLINE bool done() const { return row >= count; }

  FLASH_REF_INLINE void ask(std::int64_t some) {
    for (; some > 0 && row < count; --some) {
      const char* from = reinterpret_cast<const char*>(rows[row] + head * head_stride);
      for (std::int64_t i = 0; i < lines; ++i) __builtin_prefetch(from + i * 64, 0, 2);
      if (++head < heads) continue;
      head = 0;
      ++row;
    }
  }
};

// What is asked for while a tile of K or V is worked on: first what is left of that, then what comes next.
template <class T>
struct TilesAhead {
  static constexpr std::int64_t kCatchUp = 4;  // times as fast

  RowsAhead<T>*own, *next;

  FLASH_REF_INLINE void ask(std::int64_t rows) const {
    if (!own->done()) {
      own->ask(kCatchUp * rows);
    } else {
      next->ask(rows);
    }
  }
};

// Scores of the kScoreKeys keys of a step, `offset` elements from `keys`, for `kBlockRows` rows, in rows that
// are `stride` floats apart.
template <class T, int kBlockRows>
FLASH_REF_INLINE void score_keys(const float* q, std::int64_t width, const T* const* keys,
                                 std::int64_t offset, float* scores, std::int64_t stride,
                                 [[maybe_unused]] float factor) {
  constexpr int kSums = kScoreKeys * (kBlockRows == 3 ? 4 : kBlockRows);
  Vec c[kSums];  // of row i and key j at i * kScoreKeys + j
#pragma GCC unroll 16
  for (int i = 0; i < kSums; ++i) c[i] = Vec{};
  for (std::int64_t d = 0; d < width; d += Columns<T>::kElements) {
    Vec numbers[kScoreKeys][Columns<T>::kVectors];
#pragma GCC unroll 4
    for (int j = 0; j < kScoreKeys; ++j) Columns<T>::load_factors(keys[j] + offset + d, numbers[j]);
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
    if constexpr (kApart == 1) {
#pragma GCC unroll 4
      for (int i = 0; i < kAtATime; i += kScoreKeys) {
        const int row = (first + i) / kScoreKeys;
        if (row < kBlockRows) __builtin_memcpy(scores + row * stride, lanes + i, kScoreKeys * sizeof(float));
      }
    } else {
#pragma GCC unroll 16
      for (int i = 0; i < kAtATime; ++i) {
        const int row = (first + i) / kScoreKeys;
        if (row < kBlockRows) scores[row * stride + (first + i) % kScoreKeys] = lanes[i * kApart];
      }
    }
  }
}

// out = factor * out + probabilities * V for keys [from, to), in `kVectors` vectors of columns, whose values
// are `offset` elements from `values`. With each kAskKeys keys some rows are asked for.
constexpr std::int64_t kAskKeys = 16;

template <class T, int kBlockRows, int kVectors>
FLASH_REF_INLINE void add_columns(const float* probabilities, std::int64_t stride, const float* factors,
                                  const T* const* values, std::int64_t offset, std::int64_t from,
                                  std::int64_t to, float* out, std::int64_t width, const TilesAhead<T>& ahead,
                                  std::int64_t asked) {
  Vec c[kBlockRows][kVectors];
#pragma GCC unroll 4
  for (int i = 0; i < kBlockRows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) c[i][j] = load(out + i * width + j * kLanes) * broadcast(factors[i]);
  }
  constexpr int kKeys = kPairs<T> ? 2 : 1;
  for (std::int64_t key = from; key < to; key += kKeys) {
    if ((key - from) % kAskKeys == 0) ahead.ask(asked);
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

template <class T, int kBlockRows>
FLASH_REF_INLINE void add_values(const float* probabilities, std::int64_t stride, const float* factors,
                                 const T* const* values, std::int64_t offset, std::int64_t from,
                                 std::int64_t to, float* out, std::int64_t width,
                                 const TilesAhead<T>& ahead) {
  // A row for each key, spread over the passes over the columns.
  const std::int64_t passes = larger((width + kColumns * kLanes - 1) / (kColumns * kLanes), 1);
  const std::int64_t asked = (kAskKeys + passes - 1) / passes;
  std::int64_t column = 0;
  for (; column + kColumns * kLanes <= width; column += kColumns * kLanes) {
    add_columns<T, kBlockRows, kColumns>(probabilities, stride, factors, values, offset + column, from, to,
                                         out + column, width, ahead, asked);
  }
  for (; column < width; column += 2 * kLanes) {
    add_columns<T, kBlockRows, 2>(probabilities, stride, factors, values, offset + column, from, to,
                                  out + column, width, ahead, asked);
  }
}

}  // namespace flash_ref::cpu::FLASH_REF_ISA
