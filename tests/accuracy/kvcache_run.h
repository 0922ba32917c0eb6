// One call of flash_ref_attention_kvcache with a cache in some placement: by batch, through cache_batch_idx,
// or in pages that lie in random order. Every slot that no sequence uses holds NaN.
#pragma once

#include <string>

#include "kernels/reference/kvcache.h"
#include "tests/accuracy/test_tensor.h"

namespace flash_ref_test {

struct Placement {
  enum Kind { kByBatch, kByIndex, kPaged } kind = kByBatch;
  std::int64_t page_size = 0;
  Layout layout = Layout::kCompact;  // of the caches, q and out
};

struct KvCacheCall {
  KvCacheCall(const flash_ref::reference::KvCacheCase& sizes, TestDtype dtype, Placement placement = {});

  void fill(const flash_ref::reference::KvCacheInputs& inputs);
  flash_ref_kvcache_options options() const;
  int run() { return run(options()); }
  int run(const flash_ref_kvcache_options& options);
  // What flash_ref_attention_kvcache_workspace says, asked with the tensors or with their shapes only.
  std::size_t workspace_bytes(const flash_ref_kvcache_options& options, bool with_data);

  // (batch, capacity, kv_heads, dim), NaN where no sequence has a key.
  std::vector<double> logical(const TestTensor& cache) const;
  // The element of a cache that holds number `i` of a row; `key` is one of sequence `b`.
  std::size_t place(std::int64_t b, std::int64_t key, std::int64_t i) const;
  // Elements of a cache that differ from `before`, other than those of new keys.
  std::size_t changed_elsewhere(const TestTensor& cache, const std::vector<std::uint32_t>& before) const;

  flash_ref::reference::KvCacheCase sizes;
  TestDtype dtype;
  Placement placement;
  std::int64_t page_size, pages_of_sequence;
  std::vector<std::int64_t> pages;  // (batch, pages_of_sequence)
  TestTensor q, k_cache, v_cache, k, v, cos, sin, seqlens, table, out, lse, slopes;
  bool has_slopes = false;
};

flash_ref::reference::KvCacheInputs random_inputs(const flash_ref::reference::KvCacheCase& sizes,
                                                  TestDtype dtype, std::mt19937& random);

// "" or what is wrong: status, accuracy of out, lse or the stored keys, a store elsewhere.
std::string check_kvcache(const flash_ref::reference::KvCacheCase& sizes, TestDtype dtype, std::uint32_t seed,
                          Placement placement = {}, bool alibi = false, std::uint32_t splits = 0);

std::string describe(const flash_ref::reference::KvCacheCase& sizes, TestDtype dtype, Placement placement);

}  // namespace flash_ref_test
