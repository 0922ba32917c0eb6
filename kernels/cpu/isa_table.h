// The functions that are compiled once per instruction set. The object files of cpu/isa/ each define one
// table; everything else calls through the table that isa.h selects.
#pragma once

#include "kernels/cpu/piece.h"

namespace flash_ref::cpu {

// The backward pass of attention in the steps that cpu/attention_bwd.cpp orders. `scratch` is one thread's
// and carries what a step leaves for the next.
struct AttentionBwdSteps {
  std::int64_t (*rows)(Element element);    // of a tile
  std::int64_t (*keys)(std::int64_t dim);   // of a block
  std::int64_t (*width)(std::int64_t dim);  // floats from one row of dq_sums to the next
  std::size_t (*scratch)(Element element, std::int64_t dim);
  // What is kept of rows [first, last).
  void (*prepare)(const AttentionBwdPiece& piece, std::int64_t first, std::int64_t last, void* scratch);
  void (*start_keys)(const AttentionBwdPiece& piece, void* scratch);
  void (*add_rows)(const AttentionBwdPiece& piece, std::int64_t first, std::int64_t last, void* scratch);
  // What the rows just added give to dq_sums and to what is kept of rows.
  void (*add_dq)(const AttentionBwdPiece& piece, std::int64_t first, std::int64_t last, void* scratch);
  void (*finish_keys)(const AttentionBwdPiece& piece, void* scratch);
  // dq of rows [first, last).
  void (*finish_rows)(const AttentionBwdPiece& piece, std::int64_t first, std::int64_t last, void* scratch);
};

struct IsaTable {
  // Scratch in bytes for a piece of `rows` rows, queries times heads.
  std::size_t (*attention_scratch)(std::int64_t dim, std::int64_t rows);
  void (*attention)(const AttentionPiece& piece, void* scratch);
  AttentionBwdSteps attention_bwd;
  // For pieces with few queries of the heads of all its kv heads, which are left unfinished. Scratch in bytes
  // for `rows` rows; join_decoded finishes the rows of one kv head, which lie `stride` floats apart from part
  // to part, with the scratch of one row.
  std::size_t (*decode_scratch)(std::int64_t dim, std::int64_t rows);
  void (*decode)(const AttentionPiece& piece, void* scratch);
  void (*join_decoded)(const AttentionPiece& piece, const float* unfinished, std::int64_t parts,
                       std::int64_t stride, void* scratch);
  // Positions [first, last) of batch * seq.
  void (*rotary)(const RotaryProblem& problem, std::int64_t first, std::int64_t last);
  // Block `index` of the blocks of `rwkv7_rows` state rows of all heads.
  std::int64_t rwkv7_rows;
  std::size_t (*rwkv7_scratch)(std::int64_t dim);
  void (*rwkv7)(const Rwkv7Problem& problem, std::int64_t index, void* scratch);
  // Head `index` of batch * heads.
  std::size_t (*rwkv7_bwd_scratch)(std::int64_t dim, std::int64_t seq);
  void (*rwkv7_bwd)(const Rwkv7Backward& problem, std::int64_t index, void* scratch);

  // For the tests: the conversions and functions that the kernels are made of.
  void (*widen_float16)(const std::uint16_t* from, float* to, std::int64_t count);
  void (*widen_bfloat16)(const std::uint16_t* from, float* to, std::int64_t count);
  void (*narrow_float16)(const float* from, std::uint16_t* to, std::int64_t count);
  void (*narrow_bfloat16)(const float* from, std::uint16_t* to, std::int64_t count);
  void (*exp2_nonpositive)(const float* from, float* to, std::int64_t count);
  void (*tanh)(const float* from, float* to, std::int64_t count);
};

}  // namespace flash_ref::cpu
