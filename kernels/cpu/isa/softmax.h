// The online softmax of one query row: a running maximum and a running sum over the tiles of keys seen so
// far, in base 2 (scores arrive multiplied by log2(e)). The formulae are in kernels/formulae.md.
#pragma once

#include "kernels/cpu/isa/convert.h"
#include "kernels/cpu/isa/exponential.h"

namespace flash_ref::cpu::FLASH_REF_ISA {

constexpr float kNothing = -__builtin_inff();

struct SoftmaxRow {
  float maximum;  // -infinity as long as no key was seen
  float sum;
  std::int64_t begin, end;  // the keys that this query sees
};

FLASH_REF_INLINE void fill(float* from, float* to, float value) {
  for (; from < to; ++from) *from = value;
}

// -infinity minus -infinity would be NaN; with 0 in its place every exponential is 0, as it should be.
FLASH_REF_INLINE float finite_or_zero(float maximum_of_row) {
  return maximum_of_row == kNothing ? 0.0F : maximum_of_row;
}

// NaN scores are passed over here; they reach the sum.
FLASH_REF_INLINE float largest(const float* scores, std::int64_t columns, float so_far) {
  Vec a = broadcast(so_far), b = a;
  std::int64_t j = 0;
  for (; j + 2 * kLanes <= columns; j += 2 * kLanes) {
    a = maximum(load(scores + j), a);
    b = maximum(load(scores + j + kLanes), b);
  }
  if (j < columns) a = maximum(load(scores + j), a);
  return largest_lane(maximum(a, b));
}

// With kPaired the results are stored as bfloat16, from the start of the row on; the sum is that of the
// floats.
template <bool kPaired>
FLASH_REF_INLINE void store_probabilities(float* scores, std::int64_t j, Vec a, Vec b) {
  if constexpr (kPaired) {
    narrow_both(reinterpret_cast<std::uint16_t*>(scores) + j, a, b);
  } else {
    store(scores + j, a);
    store(scores + j + kLanes, b);
  }
}

// exp2(factor * score - subtracted) in place of the scores; returns their sum.
template <bool kPaired>
FLASH_REF_INLINE float exponentiate(float* scores, std::int64_t columns, float factor, float subtracted) {
  const Vec multiple = broadcast(factor), shift = broadcast(-subtracted);
  Vec sum = {}, other = {};
  std::int64_t j = 0;
  for (; j + 2 * kLanes <= columns; j += 2 * kLanes) {
    const Vec a = exp2_nonpositive(multiply_add(load(scores + j), multiple, shift));
    const Vec b = exp2_nonpositive(multiply_add(load(scores + j + kLanes), multiple, shift));
    store_probabilities<kPaired>(scores, j, a, b);
    sum += a;
    other += b;
  }
  if (j < columns) {
    const Vec a = exp2_nonpositive(multiply_add(load(scores + j), multiple, shift));
    if constexpr (kPaired) {
      narrow_both(reinterpret_cast<std::uint16_t*>(scores) + j, a, Vec{});
    } else {
      store(scores + j, a);
    }
    sum += a;
  }
  return sum_of_lanes(sum + other);
}

// Replaces scores [begin, end) of `columns`, which are still to be multiplied by `multiple` > 0, by
// exp2(score - new maximum) and the others by 0, and returns the factor by which everything accumulated
// before must be multiplied. `columns` is a multiple of kLanes.
template <bool kPaired>
FLASH_REF_INLINE float add_scores(SoftmaxRow& row, float* scores, std::int64_t begin, std::int64_t end,
                                  std::int64_t columns, float multiple = 1.0F) {
  fill(scores, scores + begin, kNothing);
  fill(scores + larger(begin, end), scores + columns, kNothing);
  const float largest_here = largest(scores, columns, kNothing) * multiple;
  const float maximum_of_row = largest_here > row.maximum ? largest_here : row.maximum;
  const float subtracted = finite_or_zero(maximum_of_row);
  const float factor = exp2_nonpositive(broadcast(row.maximum - subtracted))[0];
  row.sum = row.sum * factor + exponentiate<kPaired>(scores, columns, multiple, subtracted);
  row.maximum = maximum_of_row;
  return factor;
}

}  // namespace flash_ref::cpu::FLASH_REF_ISA
