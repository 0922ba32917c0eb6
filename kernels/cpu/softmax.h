// The online softmax of one query row: a running maximum and a running sum over the tiles of keys seen so
// far, in base 2 (scores arrive multiplied by log2(e)). kernels/README.md has the formulas.
#pragma once

#include <cstdint>

namespace flash_ref::cpu {

// Rows of scores are padded to a multiple of this many columns; reductions keep as many partial results.
inline constexpr std::int64_t kLanes = 16;

struct SoftmaxRow {
  float maximum;  // -infinity as long as no key was seen
  float sum;
};

// Replaces the first `visible` of `columns` scores by exp2(score - new maximum) and the others by 0, and
// returns the factor by which everything accumulated before must be multiplied. `columns` is a multiple of
// kLanes.
float add_scores(SoftmaxRow& row, float* scores, std::int64_t visible, std::int64_t columns);

// What the accumulated output is multiplied by at the end: 1 / sum, or 0 for a row that saw no key.
float output_factor(const SoftmaxRow& row);
// log(sum of exp(score)), natural; -infinity for a row that saw no key.
float log_sum_exp(const SoftmaxRow& row);

}  // namespace flash_ref::cpu
