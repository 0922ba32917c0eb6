// Attention for the tests, twice: in fp64, what the kernels are measured against, and as plain code in a low
// dtype does it, which says how large an error is normal. All tensors are compact, as double.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/reference/number_format.h"

namespace flash_ref::reference {

struct AttentionCase {
  std::int64_t batch, seq_q, seq_k, heads, kv_heads, dim;
  bool causal = false;
  double scale = 0;         // 0: 1/sqrt(dim)
  double softcap = 0;       // 0: none
  std::int64_t window = 0;  // n > 0: query at p sees keys j with p - n < j < p + n
};

struct AttentionInputs {
  std::vector<double> q;            // (batch, seq_q, heads, dim)
  std::vector<double> k, v;         // (batch, seq_k, kv_heads, dim)
  std::vector<double> slopes = {};  // (batch, heads), of ALiBi; empty: none
  std::vector<double> mask = {};    // (batch, heads, seq_q, seq_k), added to the scores; empty: none
};

struct AttentionResult {
  std::vector<double> out;  // (batch, seq_q, heads, dim)
  std::vector<double> lse;  // (batch, heads, seq_q)
};

AttentionResult attention_fp64(const AttentionCase& sizes, const AttentionInputs& inputs);

// Each step of softmax(q (scale k)^T) v materialised in `format`: the scaled keys, the scores, the
// probabilities, the output. Sums are kept in float32, as matrix products in a low dtype keep them.
AttentionResult attention_naive(const AttentionCase& sizes, const AttentionInputs& inputs,
                                NumberFormat format);

}  // namespace flash_ref::reference
