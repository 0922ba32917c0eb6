#include "kernels/cpu/attention_piece.h"

namespace flash_ref::cpu {
namespace {

// A null tensor stays null.
template <class T>
T* moved(T* base, std::int64_t offset) {
  return base == nullptr ? nullptr : base + offset;
}

const void* mask_from(const AttentionProblem& problem, std::int64_t offset) {
  if (problem.mask_kind == MaskKind::kBool) return moved(static_cast<const char*>(problem.mask), offset);
  if (problem.mask_kind == MaskKind::kFloat32) return moved(static_cast<const float*>(problem.mask), offset);
  return moved(static_cast<const std::uint16_t*>(problem.mask), offset);
}

}  // namespace

Sequence sequence_of(const AttentionProblem& problem, std::int64_t batch) {
  if (problem.q_offsets == nullptr) return {0, problem.seq_q, 0, problem.seq_k};
  const std::int32_t* q = problem.q_offsets + batch * problem.q_offsets_stride;
  const std::int32_t* k = problem.k_offsets + batch * problem.k_offsets_stride;
  return {q[0], q[problem.q_offsets_stride] - q[0], k[0], k[problem.k_offsets_stride] - k[0]};
}

RowStrides row_strides(const Strides4& strides) { return {strides[1], strides[2], strides[3]}; }

AttentionPiece piece_of(const AttentionProblem& problem, std::int64_t batch, std::int64_t kv_head,
                        std::int64_t head, std::int64_t heads, std::int64_t query, std::int64_t queries) {
  const Sequence sequence = sequence_of(problem, batch);
  const std::int64_t first_q = sequence.first_q + query;
  AttentionPiece piece{};
  piece.element = problem.element;
  piece.causal = problem.causal;
  piece.q = address_in(problem.q, problem.q_strides, batch, first_q, head);
  piece.k = address_in(problem.k, problem.k_strides, batch, sequence.first_k, kv_head);
  piece.v = address_in(problem.v, problem.v_strides, batch, sequence.first_k, kv_head);
  piece.out = address_in(problem.out, problem.out_strides, batch, first_q, head);
  piece.lse = moved(problem.lse, batch * problem.lse_strides[0] + head * problem.lse_strides[1] +
                                     first_q * problem.lse_strides[2]);
  piece.q_strides = row_strides(problem.q_strides);
  piece.k_strides = row_strides(problem.k_strides);
  piece.v_strides = row_strides(problem.v_strides);
  piece.out_strides = row_strides(problem.out_strides);
  piece.lse_strides = {problem.lse_strides[2], problem.lse_strides[1], 0};
  piece.heads = heads;
  piece.queries = queries;
  piece.dim = problem.dim;
  piece.first_position = query + sequence.seq_k - sequence.seq_q;
  piece.first_key = 0;
  piece.last_key = sequence.seq_k;
  piece.window = problem.window;
  piece.scale = problem.scale;
  piece.softcap = problem.softcap;
  piece.slopes = moved(problem.slopes, batch * problem.slope_strides[0] + head * problem.slope_strides[1]);
  piece.slope_stride = problem.slope_strides[1];
  const Strides4& mask = problem.mask_strides;
  piece.mask = mask_from(problem, batch * mask[0] + head * mask[1] + query * mask[2]);
  piece.mask_kind = problem.mask_kind;
  piece.mask_strides = {mask[2], mask[1], mask[3]};
  return piece;
}

}  // namespace flash_ref::cpu
