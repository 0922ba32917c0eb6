// Attention with a cache of keys and values, checked: what problem.h is for the other kernels.
#pragma once

#include "kernels/call/problem.h"

namespace flash_ref {

struct KvCacheProblem {
  // k and v are the caches with strides (page, slot, head, dim); seq_k is the longest sequence, new keys
  // included. A sequence stands at the end of its keys: query i at i + length - seq_q.
  AttentionProblem attention;

  // Key j of sequence b is slot j % page_size of page pages[b][j / page_size].
  const std::int32_t* pages;  // null: sequence b has page b
  Strides2 pages_strides;     // (batch, page)
  bool paged;                 // else a sequence has one page, and the second stride is 0
  std::int64_t page_size, cache_pages;

  const std::int32_t* cached;  // keys of each sequence that the cache holds already; null: seq_k each
  std::int64_t cached_stride;

  const void *new_k, *new_v;  // (batch, seq_new, kv_heads, dim), to be stored behind them; null: none
  Strides4 new_k_strides, new_v_strides;
  std::int64_t seq_new;

  const void *cos, *sin;  // (position, pair); null: nothing is rotated
  Strides2 cos_strides, sin_strides;
  std::int64_t pairs, table_rows;
  bool interleaved;
  bool queries_advance;  // query i is rotated as position cached + i; else all of them as position cached

  std::int64_t splits;  // ranges that the keys of a sequence are cut into; 0: as many as pay off

  std::int64_t cached_of(std::int64_t sequence) const {
    return cached == nullptr ? attention.seq_k : cached[sequence * cached_stride];
  }
  std::int64_t length_of(std::int64_t sequence) const { return cached_of(sequence) + seq_new; }
  std::int64_t page_of(std::int64_t sequence, std::int64_t number) const {
    return pages == nullptr ? sequence : pages[sequence * pages_strides[0] + number * pages_strides[1]];
  }
};

}  // namespace flash_ref
