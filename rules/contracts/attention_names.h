// Whether a call is spelt like one that a contract could be about. Where such a call was not followed, a
// report without findings says nothing of it, and says so.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "rules/contracts/contract.h"

namespace dtype_guard {

// `name` is the last part of what is called: "flash_attn_func", "LlamaAttention", "apply_rotary_emb", "sdpa";
// not "attention_mask", "attn_norm", "is_flash_attn_available".
bool is_named_like_attention(std::string_view name);

// The names of calls that a report without findings owes an account of.
class AttentionNames {
 public:
  explicit AttentionNames(const ContractSet& contracts);
  // Like attention, or the last part of a spelling of some contract, "mha_varlen_fwd"; such as say little by
  // themselves ("fwd") do not count.
  bool contains(std::string_view name) const;

 private:
  std::set<std::string, std::less<>> of_contracts_;
};

}  // namespace dtype_guard
