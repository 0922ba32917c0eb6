// What an attention kernel is given: the problem, and what the host found out about it.
#pragma once

#include "kernels/call/problem.h"

namespace flash_ref {

// What keys a query may see besides those that there are. kGeneral: every option, looked at per score.
enum class Masking : std::uint8_t { kNone, kCausal, kGeneral };

struct AttentionLaunch {
  AttentionProblem problem;
  std::int64_t total_q, total_k;  // rows of q and k; what offsets say is cut off there
  std::int32_t tiles;             // of queries of one head, over all sequences of varlen
  bool q_in_chunks, k_in_chunks, v_in_chunks, out_in_chunks;  // 16 bytes can be moved at a time
};

// Two kernels have the same tiling where these are the same.
struct AttentionTiling {
  int queries, keys;  // of a tile
  int row_blocks;     // of 16 rows, of a warp
};

constexpr int kAttentionThreads = 128;

// A warp takes two blocks of 16 rows where registers allow, since each fragment of K and V then serves two.
// What every option needs (`general`) leaves registers for fewer scores.
constexpr AttentionTiling attention_tiling(int dim, bool general = false) {
  if (dim > 128) return {64, 32, 1};
  return {128, general && dim == 128 ? 32 : 64, 2};
}

// Q, two tiles of K and one of V.
constexpr int attention_shared_bytes(int dim, bool general = false) {
  const AttentionTiling tiling = attention_tiling(dim, general);
  return (tiling.queries + 3 * tiling.keys) * dim * 2;
}

// The head dims that there are kernels for; others take the next one, with zeros behind.
constexpr int kAttentionDims[] = {64, 96, 128, 256};

}  // namespace flash_ref
