// Attention with a cache for the tests: what decoding and chunked prefill mean, put together from the oracles
// of rotary embedding and attention. The cache is (batch, capacity, kv_heads, dim), whatever pages hold it.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/reference/attention.h"

namespace flash_ref::reference {

struct KvCacheCase {
  std::int64_t seq_q, seq_new, heads, kv_heads, dim, capacity;
  std::vector<std::int64_t> cached;  // keys of each sequence before the call
  std::int64_t pairs = 0;            // rotary_dim / 2; 0: nothing is rotated
  std::int64_t positions = 0;        // rows of the tables
  bool interleaved = false;
  bool causal = false;
  double scale = 0;
  double softcap = 0;
  std::int64_t window = 0;

  std::int64_t batch() const { return static_cast<std::int64_t>(cached.size()); }
  bool queries_advance() const { return causal || window != 0; }
};

struct KvCacheInputs {
  std::vector<double> q;                 // (batch, seq_q, heads, dim)
  std::vector<double> k_cache, v_cache;  // (batch, capacity, kv_heads, dim)
  std::vector<double> k, v;              // (batch, seq_new, kv_heads, dim)
  std::vector<double> cos, sin;          // (positions, pairs)
  std::vector<double> slopes = {};       // (batch, heads); empty: none
};

struct KvCacheResult {
  std::vector<double> out;               // (batch, seq_q, heads, dim)
  std::vector<double> lse;               // (batch, heads, seq_q)
  std::vector<double> k_cache, v_cache;  // with the new keys and values
};

KvCacheResult kvcache_fp64(const KvCacheCase& sizes, const KvCacheInputs& inputs);

// With rotated numbers, and every step of attention, rounded to `format`.
KvCacheResult kvcache_naive(const KvCacheCase& sizes, const KvCacheInputs& inputs, NumberFormat format);

}  // namespace flash_ref::reference
