// Attention backward, first step: of each row the sum of dout times out, which the softmax's derivative takes
// off, and its lse in the units and the order that the next steps read. A warp takes one row.
#pragma once

#include "kernels/cuda/attention_bwd_launch.h"
#include "kernels/cuda/numbers.h"
#include "kernels/cuda/scores.h"

namespace flash_ref {

template <class Out, class DOut>
FLASH_REF_KERNEL(kDeltaThreads, 8)
attention_bwd_delta_kernel(FLASH_REF_PARAMETER AttentionBackwardLaunch launch) {
  const AttentionProblem& forward = launch.problem.forward;
  const std::int64_t number = std::int64_t{device::block()} * (kDeltaThreads / 32) + device::thread() / 32;
  const std::int64_t row = number / forward.heads, head = number % forward.heads;
  if (row >= launch.rows) return;
  const bool varlen = forward.q_offsets != nullptr;
  const std::int64_t batch = varlen ? 0 : row / forward.seq_q, query = varlen ? row : row % forward.seq_q;
  const auto at = [&](const void* base, const Strides4& s) {
    return static_cast<const std::uint16_t*>(base) + batch * s[0] + query * s[1] + head * s[2];
  };
  const auto* out = at(forward.out, forward.out_strides);
  const auto* dout = at(launch.problem.dout, launch.problem.dout_strides);
  float sum = 0;
  for (int d = device::thread() % 32; d < static_cast<int>(forward.dim); d += 32) {
    sum = device::fused(Number<Out>::widen(device::load(out + d * forward.out_strides[3])),
                        Number<DOut>::widen(device::load(dout + d * launch.problem.dout_strides[3])), sum);
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += device::shuffle_xor(sum, step);
  if (device::thread() % 32 != 0) return;
  const float lse = device::load(forward.lse + batch * forward.lse_strides[0] +
                                 head * forward.lse_strides[1] + query * forward.lse_strides[2]);
  device::store(launch.deltas + head * launch.rows + row, sum);
  device::store(launch.lses + head * launch.rows + row, lse == kNoKey ? 0.0F : lse * kLog2E);
}

template <class T>
int launch_attention_bwd_delta(const AttentionBackwardLaunch& launch, unsigned blocks, void* stream) {
  return device::launch(attention_bwd_delta_kernel<T, T>, blocks, kDeltaThreads, 0, stream, launch);
}

}  // namespace flash_ref
