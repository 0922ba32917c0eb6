// The sizes and inputs of one attention, forward or backward. All tensors are compact, as double.
#pragma once

#include <cstdint>
#include <vector>

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

}  // namespace flash_ref::reference
