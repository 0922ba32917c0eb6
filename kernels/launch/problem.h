// A problem is a call whose arguments have been checked: plain pointers, sizes and element strides, with no
// DLPack and nothing left that could be wrong. launch/ makes problems out of tensors; each backend (cpu/, and
// later cuda/) solves them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace flash_ref {

enum class Element : std::uint8_t { kFloat16, kBFloat16, kFloat32 };

// Strides of (batch, sequence, head, dim), in elements.
using Strides4 = std::array<std::int64_t, 4>;
using Strides2 = std::array<std::int64_t, 2>;

struct AttentionProblem {
  Element element;
  const void* q;
  const void* k;
  const void* v;
  void* out;
  float* lse;  // may be null
  Strides4 q_strides, k_strides, v_strides, out_strides;
  std::array<std::int64_t, 3> lse_strides;  // (batch, head, sequence)
  std::int64_t batch, seq_q, seq_k, heads, kv_heads, dim;
  bool causal;
  float scale;  // the factor itself, never 0 for "default"
};

struct RotaryProblem {
  Element element;
  const void* x;
  const void* cos;
  const void* sin;
  void* out;
  Strides4 x_strides, out_strides;
  Strides2 cos_strides, sin_strides;
  std::int64_t batch, seq, heads, dim;
  std::int64_t pairs;  // rotary_dim / 2
  bool interleaved;
  bool conjugate;
};

// The number of leading keys that a query sees; the causal mask is aligned at the bottom right.
inline std::int64_t visible_keys(const AttentionProblem& problem, std::int64_t query) {
  if (!problem.causal) return problem.seq_k;
  const std::int64_t count = query + 1 + problem.seq_k - problem.seq_q;
  return count < 0 ? 0 : count;
}

}  // namespace flash_ref
