// A piece is what one thread does at a time: some consecutive queries of the heads that share one kv head. It
// holds plain pointers and numbers, so that the object files of cpu/isa/ need nothing of the rest.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/call/problem.h"

namespace flash_ref::cpu {

// A matrix of heads: element (i, h, d) is at base[i * row + h * head + d * dim], in elements.
struct RowStrides {
  std::int64_t row, head, dim;
};

// Where the keys of a sequence lie: k and v of a piece are the first slot of page 0.
struct KeyPages {
  const std::int32_t* table;  // the pages of the sequence in turn; null: one page has all of its keys
  std::int64_t table_stride;
  std::int64_t size;                // keys of a page
  std::int64_t k_stride, v_stride;  // from page to page, in elements
  // Where a tile of attention that lies in several pages is put together: 256 keys each.
  void *gathered_k, *gathered_v;
};

struct AttentionPiece {
  Element element;
  bool causal;
  const void *q, *k, *v;  // q: first query of the piece, first head; k, v: first key of the sequence
  void* out;              // as q
  float* lse;             // as q; may be null
  RowStrides q_strides, k_strides, v_strides, out_strides, lse_strides;
  KeyPages pages;
  std::int64_t kv_heads;  // of a piece that is decoded: its query heads are heads * kv_heads; else 1
  std::int64_t heads;     // that share k and v
  std::int64_t queries;   // of the piece
  std::int64_t dim;
  std::int64_t first_position;       // of the first query, counted in keys: i + seq_k - seq_q
  std::int64_t first_key, last_key;  // only these keys are looked at
  std::int64_t window;               // 0: none
  float scale, softcap;              // softcap 0: none
  const float* slopes;               // of ALiBi, one for each head; null: none
  std::int64_t slope_stride;
  const void* mask;  // of the first query, first head and first key of the sequence; null: none
  MaskKind mask_kind;
  RowStrides mask_strides;  // dim: of keys
  // Of a piece that is decoded, instead of out and lse: dim sums, maximum and sum of each row.
  float* unfinished;
};

// What the backward pass keeps of a row. P = weight exp(s - lse) and dS = P (dP - delta - rest): at first
// weight is 1 and rest is 0, and both change where roundings are found to have spoilt dS.
struct AttentionBwdRow {
  float delta, rest, weight;
  float doubt, p_doubt;  // what roundings in out and lse may have done: to delta, and to the sum of P
  float p, ds, ds_size;  // over the keys so far, a cap's derivative aside: the sums of P, dS and |dS|
};

// The backward pass of the queries of one sequence and of the heads that share a kv head, against the keys
// [first_key, last_key). A row is one query of one head; row r is query r / heads of head r % heads.
struct AttentionBwdPiece {
  AttentionPiece forward;  // q, out, lse, dout and dq from query 0 on
  const void* dout;
  void *dq, *dk, *dv;
  std::int64_t keys;  // of the sequence
  RowStrides dout_strides, dq_strides, dk_strides, dv_strides;
  float* dq_sums;  // what the blocks of keys so far have added to dq
  AttentionBwdRow* rows;
};

}  // namespace flash_ref::cpu
