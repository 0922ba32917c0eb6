// The arguments of flash_ref_attention_kvcache, checked: shapes and layouts first, then the numbers that say
// where keys lie.
#pragma once

#include "kernels/call/kvcache_problem.h"
#include "kernels/launch/attention_call.h"

namespace flash_ref {

// In the order of the C signature. A tensor that was not given has no role.
struct KvCacheOperands {
  enum Role {
    kQ,
    kKCache,
    kVCache,
    kK,
    kV,
    kCos,
    kSin,
    kSeqlensK,
    kCacheBatchIdx,
    kBlockTable,
    kOut,
    kLse,
    kCount,
  };
  Tensor tensors[kCount];

  const Tensor& operator[](Role role) const { return tensors[role]; }
  Tensor& operator[](Role role) { return tensors[role]; }
  bool has(Role role) const { return tensors[role].role != nullptr; }

  bool paged() const { return has(kBlockTable); }
  std::int64_t seq_new() const { return has(kK) ? tensors[kK].sizes[1] : 0; }
  std::int64_t page_size() const { return tensors[kKCache].sizes[1]; }
  std::int64_t capacity() const;  // keys that a sequence can have
};

struct KvCacheSettings {
  AttentionSettings attention;
  bool interleaved;
  std::int64_t splits;
};

// What is given goes together, and its shapes fit.
int read_kvcache_inputs(const Call& call, const DLTensor* const* tensors, bool needs_data,
                        KvCacheOperands& operands);
int read_kvcache_outputs(const Call& call, const DLTensor* const* tensors, KvCacheOperands& operands);
int read_kvcache_options(const Call& call, const flash_ref_kvcache_options* given,
                         const KvCacheOperands& operands, bool needs_data, KvCacheSettings& settings);

// The numbers in seqlens_k, cache_batch_idx and block_table: in range, and new keys go where no other
// sequence reads or writes. Sets attention.seq_k to the longest sequence.
int check_places(const Call& call, const KvCacheOperands& operands, KvCacheProblem& problem);

}  // namespace flash_ref
