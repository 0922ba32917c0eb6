// Attention with a cache, last step: what the ranges of a sequence's keys left of a row, joined at their
// common maximum. A warp takes one row; sequences of one range are done already.
#pragma once

#include "kernels/cuda/attention_kvcache.h"

namespace flash_ref {

constexpr int kJoinThreads = 128;

template <class Out, int kDim>
FLASH_REF_KERNEL(kJoinThreads, 4)
kvcache_join_kernel(FLASH_REF_PARAMETER KvCacheLaunch launch) {
  const AttentionProblem& attention = launch.problem.attention;
  const std::int64_t group = attention.heads / attention.kv_heads, rows = attention.seq_q * group;
  const std::int64_t number = std::int64_t{device::block()} * (kJoinThreads / 32) + device::thread() / 32;
  const std::int64_t row = number % rows, kv_head = number / rows % attention.kv_heads;
  const std::int64_t batch = number / rows / attention.kv_heads;
  if (batch >= attention.batch) return;
  const CachedSequence sequence(launch.problem, batch);
  constexpr int kKeys = CachedAttention<Out, Out, Out, Out, kDim>::kKeys;
  const KeyCut cut(launch, sequence.length, kKeys);
  if (cut.ranges == 1) return;
  const std::int64_t first = (batch * attention.kv_heads + kv_head) * launch.ranges * rows + row;
  float top = -__builtin_inff(), sum = 0;
  for (int i = 0; i < cut.ranges; ++i)
    top = device::larger(top, device::load(launch.maxima + (first + i * rows) * 2));
  const float base = top == -__builtin_inff() ? 0.0F : top;
  for (int i = 0; i < cut.ranges; ++i) {
    const float* of_range = launch.maxima + (first + i * rows) * 2;
    sum += device::load(of_range + 1) * device::exp2_fast(device::load(of_range) - base);
  }
  const std::int64_t query = row / group, head = kv_head * group + row % group;
  const Strides4& s = attention.out_strides;
  auto* to = static_cast<std::uint16_t*>(attention.out) + batch * s[0] + query * s[1] + head * s[2];
  const auto dim = static_cast<int>(attention.dim);
  for (int column = device::thread() % 32; column < dim; column += 32) {
    float value = 0;
    for (int i = 0; i < cut.ranges; ++i) {
      const float share = device::exp2_fast(device::load(launch.maxima + (first + i * rows) * 2) - base);
      value += device::load(launch.sums + (first + i * rows) * dim + column) * share;
    }
    device::store(to + column * s[3], Number<Out>::narrow(sum == 0 ? 0.0F : value / sum));
  }
  if (attention.lse == nullptr || device::thread() % 32 != 0) return;
  device::store(attention.lse + batch * attention.lse_strides[0] + head * attention.lse_strides[1] +
                    query * attention.lse_strides[2],
                sum == 0 ? -__builtin_inff() : base * kLn2 + device::natural_log(sum));
}

template <class T, int kDim>
int launch_kvcache_join(const KvCacheLaunch& launch, unsigned blocks, void* stream) {
  return device::launch(kvcache_join_kernel<T, kDim>, blocks, kJoinThreads, 0, stream, launch);
}

}  // namespace flash_ref
