// Attention with a cache, first step: new keys, rotated where there are tables, and new values go to their
// places. A block takes one new position of one sequence with all its kv heads.
#pragma once

#include "kernels/cuda/kvcache_rows.h"

namespace flash_ref {

template <class K, class V, class KCache, class VCache>
FLASH_REF_KERNEL(kAppendThreads, 4)
kvcache_append_kernel(FLASH_REF_PARAMETER KvCacheLaunch launch) {
  const KvCacheProblem& problem = launch.problem;
  const AttentionProblem& attention = problem.attention;
  const std::int64_t batch = device::block() / problem.seq_new, position = device::block() % problem.seq_new;
  const CachedSequence sequence(problem, batch);
  const std::int64_t key = sequence.cached + position;
  const auto dim = static_cast<int>(attention.dim), kv_heads = static_cast<int>(attention.kv_heads);
  for (int i = device::thread(); i < kv_heads * dim; i += kAppendThreads) {
    const int head = i / dim, column = i % dim;
    const auto to = [&](const void* cache, const Strides4& strides) {
      const PagedRows rows(problem, cache, strides, batch, head, sequence.length);
      return const_cast<std::uint16_t*>(key < sequence.length ? rows.row(static_cast<int>(key)) : nullptr);
    };
    const auto from = [&](const void* base, const Strides4& strides) {
      return static_cast<const std::uint16_t*>(base) + batch * strides[0] + position * strides[1] +
             head * strides[2];
    };
    const std::int64_t k_step = problem.new_k_strides[3], v_step = problem.new_v_strides[3];
    const auto* k = from(problem.new_k, problem.new_k_strides);
    std::uint16_t* k_place = to(attention.k, attention.k_strides);
    std::uint16_t* v_place = to(attention.v, attention.v_strides);
    if (k_place == nullptr || v_place == nullptr) continue;
    device::store(k_place + column * attention.k_strides[3],
                  problem.cos == nullptr ? device::load(k + column * k_step)
                                         : RotatedRow<K>(problem, key).number(k, k_step, column));
    device::store(v_place + column * attention.v_strides[3],
                  device::load(from(problem.new_v, problem.new_v_strides) + column * v_step));
  }
}

template <class T>
int launch_kvcache_append(const KvCacheLaunch& launch, unsigned blocks, void* stream) {
  return device::launch(kvcache_append_kernel<T, T, T, T>, blocks, kAppendThreads, 0, stream, launch);
}

}  // namespace flash_ref
