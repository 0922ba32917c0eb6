// Which names of calls are taken for attention where nothing else is known of them.
#include "rules/contracts/attention_names.h"

#include "tests/catch.h"

namespace dtype_guard {
namespace {

TEST_CASE("a name is like attention by its noun") {
  for (const char* name :
       {"attention", "attn", "sdpa", "Attention", "LlamaAttention", "flash_attn_func",
        "flash_attn_varlen_func", "flash_attn_with_kvcache", "scaled_dot_product_attention",
        "apply_rotary_emb", "apply_rotary_pos_emb", "RotaryEmbedding", "rotary_forward", "MHA", "self_attn",
        "attention_interface", "_flash_attn_forward", "FlashSelfAttention2", "attn_fn"}) {
    INFO(name);
    CHECK(is_named_like_attention(name));
  }
  for (const char* name :
       {"attention_mask", "attn_norm", "is_flash_attn_available", "get_attention_mask", "AttentionConfig",
        "attention_dropout", "attn_weights", "attentions_count", "pattern", "mha_config", "embed", "pos_emb",
        "set_use_memory_efficient_attention", "", "_", "func", "battn", "rotary_dim"}) {
    INFO(name);
    CHECK_FALSE(is_named_like_attention(name));
  }
}

TEST_CASE("a name is a contract's by the last part of a spelling") {
  const AttentionNames names(builtin_contracts());
  CHECK(names.contains("mha_varlen_fwd"));
  CHECK(names.contains("append_paged_kv_cache"));
  CHECK(names.contains("my_attention"));
  CHECK(names.contains("scaled_masked_softmax_backward"));
  CHECK_FALSE(names.contains("fwd"));
  CHECK_FALSE(names.contains("forward"));  // scaled_masked_softmax_cuda.forward, but any module's too
  CHECK_FALSE(names.contains("backward"));
  CHECK_FALSE(names.contains("arlen_fwd"));
  CHECK_FALSE(names.contains("normalize"));
}

}  // namespace
}  // namespace dtype_guard
