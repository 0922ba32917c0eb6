// A call of flash_ref_attention_kvcache that is right, to be made wrong in one point by a test: two sequences
// in a cache of three places of eight keys, two new keys each.
#pragma once

#include <memory>

#include "tests/unit/kernels/calls.h"

namespace flash_ref_test {

struct KvCacheArguments {
  static constexpr int kCount = 12;
  static constexpr const char* kRoles[kCount] = {
      "q",   "k_cache",   "v_cache",         "k",           "v",   "cos",
      "sin", "seqlens_k", "cache_batch_idx", "block_table", "out", "lse"};

  TestTensor q{{2, 2, 4, 16}, kBFloat16}, k_cache{{3, 8, 2, 16}, kBFloat16},
      v_cache{{3, 8, 2, 16}, kBFloat16}, k{{2, 2, 2, 16}, kBFloat16}, v{{2, 2, 2, 16}, kBFloat16},
      cos{{16, 6}, kBFloat16}, sin{{16, 6}, kBFloat16}, seqlens{{2}, kInt32}, places{{2}, kInt32},
      pages{{2, 2}, kInt32}, out{{2, 2, 4, 16}, kBFloat16}, lse{{2, 4, 2}, kFloat32};
  DLTensor tensors[kCount] = {q.tensor(),      k_cache.tensor(), v_cache.tensor(), k.tensor(),
                              v.tensor(),      cos.tensor(),     sin.tensor(),     seqlens.tensor(),
                              places.tensor(), pages.tensor(),   out.tensor(),     lse.tensor()};
  bool given[kCount] = {true, true, true, true, true, true, true, true, true, false, true, true};
  flash_ref_kvcache_options options{};

  KvCacheArguments() {
    options.struct_size = sizeof options;
    set("seqlens_k", 0, 3);
    set("seqlens_k", 1, 6);
    set("cache_batch_idx", 0, 2);
    set("cache_batch_idx", 1, 0);
  }

  static int index_of(const std::string& role) {
    for (int i = 0; i < kCount; ++i) {
      if (role == kRoles[i]) return i;
    }
    return -1;
  }

  DLTensor& named(const std::string& role) {
    if (role == "block_table") use_pages();
    return tensors[index_of(role)];
  }
  void leave_out(const std::string& role) { given[index_of(role)] = false; }
  void set(const std::string& role, std::size_t index, std::int32_t number) {
    TestTensor& tensor = role == "seqlens_k" ? seqlens : role == "block_table" ? pages : places;
    tensor.set_bits(index, static_cast<std::uint32_t>(number));
  }

  // Pages of eight keys: sequence 0 has pages 0 and 1, sequence 1 page 2.
  void use_pages() {
    leave_out("cache_batch_idx");
    given[index_of("block_table")] = true;
    set("seqlens_k", 0, 7);
    const int numbers[] = {0, 1, 2, 2};
    for (std::size_t i = 0; i < 4; ++i) set("block_table", i, numbers[i]);
  }

  Outcome call() {
    const auto memory = [&] {
      std::vector<std::uint8_t> all;
      for (const TestTensor* tensor :
           {std::addressof(out), std::addressof(lse), std::addressof(k_cache), std::addressof(v_cache)}) {
        all.insert(all.end(), tensor->memory().begin(), tensor->memory().end());
      }
      return all;
    };
    DLTensor* t[kCount];
    for (int i = 0; i < kCount; ++i) t[i] = given[i] ? &tensors[i] : nullptr;
    const auto before = memory();
    const int status = flash_ref_attention_kvcache(t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], t[9],
                                                   t[10], t[11], &options);
    return {status, flash_ref_last_error(), before != memory()};
  }
};

}  // namespace flash_ref_test
