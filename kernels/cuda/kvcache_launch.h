// What the kernels of attention with a cache are given. The keys of a sequence are cut into ranges whose
// length depends on the sequence alone, so that bits do not depend on its company; each range is a block's,
// and what a block finds out about its rows waits in the workspace until all of them are joined.
#pragma once

#include "kernels/call/kvcache_problem.h"
#include "kernels/cuda/attention_launch.h"

namespace flash_ref {

constexpr int kDecodeRows = 64;  // of a block: a row is one query of one of the heads that share a kv head
constexpr int kLeastRange = 512;
constexpr int kMostRanges = 64;
constexpr int kAppendThreads = 128;

constexpr AttentionTiling kvcache_tiling(int dim) { return {kDecodeRows, attention_tiling(dim).keys, 1}; }
// The rows, and two tiles of K and of V.
constexpr int kvcache_shared_bytes(int dim) { return (kDecodeRows + 4 * kvcache_tiling(dim).keys) * dim * 2; }

struct KvCacheLaunch {
  KvCacheProblem problem;
  std::int32_t ranges;     // of a sequence at most
  std::int32_t row_tiles;  // of a kv head
  std::int32_t least_range;
  bool q_in_chunks, k_in_chunks, v_in_chunks;
  float *sums, *maxima;  // of (batch, kv head, range, row): dim sums; the maximum, then the sum
};

}  // namespace flash_ref
