// What the kernels of the backward pass are given.
#pragma once

#include "kernels/cuda/attention_launch.h"

namespace flash_ref {

// Whose gradients a kernel makes: its rows stay, the others go by. Of head dim 256 registers hold one sum of
// a row, so dk and dv are made apart. kFewKeys makes no gradient, but lse and delta of queries that see a few
// keys.
enum class BackwardOf : std::uint8_t { kQueries, kKeysAndValues, kKeys, kValues, kFewKeys };

struct AttentionBackwardLaunch {
  AttentionBackward problem;
  std::int64_t total_q, total_k;
  std::int64_t rows;                    // of a head in `deltas`
  std::int32_t query_tiles, key_tiles;  // of rows that stay, over all sequences of varlen
  bool q_in_chunks, k_in_chunks, v_in_chunks, dout_in_chunks, dq_in_chunks, dk_in_chunks, dv_in_chunks;
  bool adjusted;  // scores are more than products times a scale
  float* deltas;  // (head, row): the sum of dout times out
  float* lses;    // (head, row): in units of exp2; 0 of a row that sees nothing
};

constexpr int kBackwardRows = 64;  // of a block that stay
constexpr int kDeltaThreads = 128;
constexpr int kFewKeys = 16;  // as on CPU

constexpr int backward_passing(int dim) { return dim <= 128 ? 64 : 32; }

// Two tiles that stay, two times two that go by, lse and delta of rows of those, and weights of products that
// are made one by one.
constexpr int attention_bwd_shared_bytes(int dim) {
  const int passing = backward_passing(dim);
  return (2 * kBackwardRows + 4 * passing) * dim * 2 + 4 * passing * 4 + kBackwardRows * passing * 2;
}

}  // namespace flash_ref
