// A problem is a call whose arguments have been checked: plain pointers, sizes and element strides, with no
// DLPack and nothing left that could be wrong. launch/ makes problems out of tensors; each backend (cpu/ and
// cuda/) solves them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace flash_ref {

enum class Element : std::uint8_t { kFloat16, kBFloat16, kFloat32 };

// What is added to a score: -infinity where a boolean mask is false, or the mask's number.
enum class MaskKind : std::uint8_t { kNone, kBool, kFloat32, kLikeQ };

// Strides of (batch, sequence, head, dim) and of (sequence, pair), in elements. Plain arrays: cpu/isa/ reads
// them.
using Strides4 = std::int64_t[4];
using Strides2 = std::int64_t[2];

struct AttentionProblem {
  Element element;
  const void* q;
  const void* k;
  const void* v;
  void* out;
  float* lse;  // may be null
  Strides4 q_strides, k_strides, v_strides, out_strides;
  std::int64_t lse_strides[3];  // (batch, head, sequence)
  std::int64_t batch, seq_q, seq_k, heads, kv_heads, dim;
  // Sequences of different lengths in one tensor: sequence b has the rows from offsets[b] to offsets[b + 1],
  // the batch strides are 0, and seq_q and seq_k are the longest ones. Null: all sequences are alike.
  const std::int32_t *q_offsets, *k_offsets;
  std::int64_t q_offsets_stride, k_offsets_stride;
  bool causal;
  float scale;             // the factor itself, never 0 for "default"
  float softcap;           // 0: none
  std::int64_t window;     // 0: none
  const float* slopes;     // of ALiBi; null: none
  Strides2 slope_strides;  // (batch, head)
  const void* mask;        // null: none
  MaskKind mask_kind;
  Strides4 mask_strides;  // (batch, head, query, key)
  Strides2 mask_sizes;    // queries and keys; 1 query serves all
};

// The gradients of q, k and v from that of out, for a problem whose out and lse are known.
struct AttentionBackward {
  AttentionProblem forward;
  const void* dout;
  void *dq, *dk, *dv;
  Strides4 dout_strides, dq_strides, dk_strides, dv_strides;
};

struct Rwkv7Problem {
  Element element;
  const void *r, *w, *k, *v, *a, *b;
  void* out;
  const float* initial_state;  // may be null: 0
  float* final_state;          // may be null
  Strides4 r_strides, w_strides, k_strides, v_strides, a_strides, b_strides, out_strides;
  Strides4 initial_strides, final_strides;  // (batch, head, value, key)
  std::int64_t batch, seq, heads, dim;
  float scale;
};

// The gradients of a Rwkv7Problem's inputs; its out and final_state are not looked at.
struct Rwkv7Backward {
  Rwkv7Problem forward;
  const void* dout;
  const float* dfinal_state;  // may be null: 0
  void *dr, *dw, *dk, *dv, *da, *db;
  float* dinitial_state;  // may be null
  Strides4 dout_strides, dr_strides, dw_strides, dk_strides, dv_strides, da_strides, db_strides;
  Strides4 dfinal_strides, dinitial_strides;  // (batch, head, value, key)
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
  std::int64_t table_rows;
  bool interleaved;
  bool conjugate;
  // Row i of sequence b takes row i + offset of the tables.
  std::int64_t offset;
  const std::int32_t* offsets;  // of each sequence; null: `offset` for all
  std::int64_t offsets_stride;
};

}  // namespace flash_ref
