// From a problem of attention to what the code of an instruction set is given: one sequence, some heads and
// queries of it.
#pragma once

#include <type_traits>

#include "kernels/cpu/piece.h"

namespace flash_ref::cpu {

// The rows of one sequence in q and out, and in k and v.
struct Sequence {
  std::int64_t first_q, seq_q, first_k, seq_k;
};

Sequence sequence_of(const AttentionProblem& problem, std::int64_t batch);

RowStrides row_strides(const Strides4& strides);

// The address of (batch, row, head, 0) in a tensor of 16-bit elements.
template <class T>
T* address_in(T* base, const Strides4& strides, std::int64_t batch, std::int64_t row, std::int64_t head) {
  using Element16 = std::conditional_t<std::is_const_v<T>, const std::uint16_t, std::uint16_t>;
  return static_cast<Element16*>(base) + (batch * strides[0] + row * strides[1] + head * strides[2]);
}

// `queries` queries from `query` on of `heads` heads from `head` on, which share `kv_head`, against all keys.
AttentionPiece piece_of(const AttentionProblem& problem, std::int64_t batch, std::int64_t kv_head,
                        std::int64_t head, std::int64_t heads, std::int64_t query, std::int64_t queries);

}  // namespace flash_ref::cpu
