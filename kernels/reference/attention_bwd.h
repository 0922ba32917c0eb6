// The gradients of attention for the tests: in fp64 as the chain rule has them, and as plain code in a low
// dtype computes them.
#pragma once

#include "kernels/reference/attention.h"

namespace flash_ref::reference {

struct AttentionGradients {
  std::vector<double> dq, dk, dv;  // shaped like q, k, v
};

AttentionGradients attention_bwd_fp64(const AttentionCase& sizes, const AttentionInputs& inputs,
                                      const std::vector<double>& dout);

// As attention_naive: scores, probabilities, dP, dS and the gradients of each query head are materialised in
// `format`, sums kept in float32.
AttentionGradients attention_bwd_naive(const AttentionCase& sizes, const AttentionInputs& inputs,
                                       const std::vector<double>& dout, NumberFormat format);

}  // namespace flash_ref::reference
