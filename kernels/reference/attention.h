// Attention for the tests, twice: in fp64, what the kernels are measured against, and as plain code in a low
// dtype does it, which says how large an error is normal. All tensors are compact, as double.
#pragma once

#include <vector>

#include "kernels/reference/attention_case.h"
#include "kernels/reference/number_format.h"

namespace flash_ref::reference {

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
