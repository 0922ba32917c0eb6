#include "kernels/cpu/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/cpu/exp2.h"

namespace flash_ref::cpu {
namespace {

constexpr float kNothing = -std::numeric_limits<float>::infinity();

// NaN scores are passed over here; they reach the sum below.
float largest(const float* scores, std::int64_t columns) {
  float lanes[kLanes];
  std::fill_n(lanes, kLanes, kNothing);
  for (std::int64_t j = 0; j < columns; j += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] = scores[j + lane] > lanes[lane] ? scores[j + lane] : lanes[lane];
    }
  }
  return *std::max_element(lanes, lanes + kLanes);
}

float exponentiate(float* scores, std::int64_t columns, float maximum) {
  float lanes[kLanes] = {};
  for (std::int64_t j = 0; j < columns; j += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      scores[j + lane] = exp2_nonpositive(scores[j + lane] - maximum);
      lanes[lane] += scores[j + lane];
    }
  }
  float sum = 0;
  for (float lane : lanes) sum += lane;
  return sum;
}

// -infinity minus -infinity would be NaN; with 0 in its place every exponential is 0, as it should be.
float finite_or_zero(float maximum) { return maximum == kNothing ? 0.0F : maximum; }

}  // namespace

float add_scores(SoftmaxRow& row, float* scores, std::int64_t visible, std::int64_t columns) {
  std::fill(scores + visible, scores + columns, kNothing);
  const float maximum = std::max(row.maximum, largest(scores, columns));
  const float subtracted = finite_or_zero(maximum);
  const float factor = exp2_nonpositive(row.maximum - subtracted);
  row.sum = row.sum * factor + exponentiate(scores, columns, subtracted);
  row.maximum = maximum;
  return factor;
}

float output_factor(const SoftmaxRow& row) { return row.sum == 0 ? 0.0F : 1.0F / row.sum; }

float log_sum_exp(const SoftmaxRow& row) {
  if (row.sum == 0) return kNothing;
  return (finite_or_zero(row.maximum) + std::log2(row.sum)) * std::numbers::ln2_v<float>;
}

}  // namespace flash_ref::cpu
