// Which keys a query sees, and what becomes of a score besides the scale.
#pragma once

#include "device/primitives.h"
#include "kernels/cuda/attention_launch.h"

namespace flash_ref {

constexpr float kLog2E = 1.44269504088896341F;
constexpr float kLn2 = 0.693147180559945309F;
constexpr float kNoKey = -__builtin_inff();  // the lse of a row that sees no key, and a score that is hidden

FLASH_REF_DEVICE int smaller_of(int a, int b) { return a < b ? a : b; }
FLASH_REF_DEVICE int larger_of(int a, int b) { return a > b ? a : b; }
FLASH_REF_DEVICE int clamp_to(std::int64_t value, std::int64_t low, std::int64_t high) {
  return static_cast<int>(value < low ? low : value > high ? high : value);
}

// Keys [first, last).
struct KeyRange {
  int first, last;
};

// The rows of one sequence in q and out, and in k and v.
struct SequenceRows {
  int first_q, first_k, seq_q, seq_k;
};

FLASH_REF_DEVICE SequenceRows sequence_rows(const AttentionLaunch& launch, std::int64_t batch) {
  const AttentionProblem& problem = launch.problem;
  if (problem.q_offsets == nullptr)
    return {0, 0, static_cast<int>(problem.seq_q), static_cast<int>(problem.seq_k)};
  const std::int32_t* q = problem.q_offsets + batch * problem.q_offsets_stride;
  const std::int32_t* k = problem.k_offsets + batch * problem.k_offsets_stride;
  const int first_q = clamp_to(device::load(q), 0, launch.total_q);
  const int first_k = clamp_to(device::load(k), 0, launch.total_k);
  return {first_q, first_k,
          clamp_to(device::load(q + problem.q_offsets_stride), first_q, launch.total_q) - first_q,
          clamp_to(device::load(k + problem.k_offsets_stride), first_k, launch.total_k) - first_k};
}

// Of queries that stand at `first` to `last` among seq_k keys; what all of them see together.
template <Masking kMasking>
FLASH_REF_DEVICE KeyRange keys_seen(const AttentionProblem& problem, int first, int last, int seq_k) {
  KeyRange keys{0, seq_k};
  if (kMasking == Masking::kNone) return keys;
  if (kMasking == Masking::kCausal || problem.causal) keys.last = smaller_of(keys.last, last + 1);
  if (kMasking == Masking::kGeneral && problem.window != 0) {
    const int window = static_cast<int>(problem.window);
    keys.first = larger_of(first - window + 1, 0);
    keys.last = smaller_of(keys.last, last + window);
  }
  keys.last = larger_of(keys.last, keys.first);
  return keys;
}

// Whether all of those queries see all of those keys.
template <Masking kMasking>
FLASH_REF_DEVICE bool all_seen(const AttentionProblem& problem, int first, int last, int seq_k,
                               KeyRange keys) {
  const KeyRange early = keys_seen<kMasking>(problem, first, first, seq_k);
  const KeyRange late = keys_seen<kMasking>(problem, last, last, seq_k);
  return keys.first >= larger_of(early.first, late.first) && keys.last <= smaller_of(early.last, late.last);
}

// A score with the options beyond scale and range, times log2(e).
class ScoreOptions {
 public:
  FLASH_REF_DEVICE ScoreOptions(const AttentionProblem& problem, std::int64_t batch, std::int64_t head)
      : problem_(problem), slope_(0), mask_at_(0) {
    if (problem.slopes != nullptr)
      slope_ =
          device::load(problem.slopes + batch * problem.slope_strides[0] + head * problem.slope_strides[1]);
    mask_at_ = batch * problem.mask_strides[0] + head * problem.mask_strides[1];
  }

  template <class Q>
  FLASH_REF_DEVICE float apply(float product, int query, int position, int key) const {
    float score = product * problem_.scale;
    if (problem_.softcap != 0)
      score = problem_.softcap * device::hyperbolic_tangent(score / problem_.softcap);
    if (slope_ != 0) score -= slope_ * static_cast<float>(larger_of(position - key, key - position));
    if (problem_.mask_kind == MaskKind::kNone) return score * kLog2E;
    return (score + mask_number<Q>(query, key)) * kLog2E;
  }

  // The derivative of that by the product, over the scale: what softcap leaves.
  FLASH_REF_DEVICE float slope_of_cap(float product) const {
    if (problem_.softcap == 0) return 1;
    const float t = device::hyperbolic_tangent(product * problem_.scale / problem_.softcap);
    return 1 - t * t;
  }

 private:
  template <class Q>
  FLASH_REF_DEVICE float mask_number(int query, int key) const {
    const bool beyond =
        (problem_.mask_sizes[0] != 1 && query >= problem_.mask_sizes[0]) || key >= problem_.mask_sizes[1];
    if (beyond) return device::as_float(0xff800000U);
    const std::int64_t at = mask_at_ + query * problem_.mask_strides[2] + key * problem_.mask_strides[3];
    if (problem_.mask_kind == MaskKind::kBool) {
      const bool seen = device::load(static_cast<const std::uint8_t*>(problem_.mask) + at) != 0;
      return seen ? 0.0F : device::as_float(0xff800000U);
    }
    if (problem_.mask_kind == MaskKind::kFloat32)
      return device::load(static_cast<const float*>(problem_.mask) + at);
    return device::widen<Q>(device::load(static_cast<const std::uint16_t*>(problem_.mask) + at));
  }

  const AttentionProblem& problem_;
  float slope_;
  std::int64_t mask_at_;
};

}  // namespace flash_ref
