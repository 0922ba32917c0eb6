// Ways to call flash_ref_attention_kvcache wrongly, with the whole message; nothing is written, to the caches
// neither.
#include "tests/catch.h"
#include "tests/unit/kernels/kvcache_calls.h"

using namespace flash_ref_test;

namespace {

std::string prefixed(const std::string& message) { return "flash_ref_attention_kvcache: " + message; }

}  // namespace

TEST_CASE("kvcache: the arguments that the other tests spoil are right") {
  KvCacheArguments a;
  const Outcome outcome = a.call();
  CHECK(outcome.message == "");
  CHECK(outcome.status == FLASH_REF_OK);
  CHECK(outcome.written);
}

TEST_CASE("kvcache: what goes together") {
  KvCacheArguments a;
  const int null = FLASH_REF_NULL_ARGUMENT;
  const auto without = [&](std::initializer_list<const char*> roles) {
    KvCacheArguments b;
    for (const char* role : roles) b.leave_out(role);
    return b.call();
  };
  REQUIRE_ERROR(without({"q"}), null, prefixed("q is NULL"));
  REQUIRE_ERROR(without({"v_cache"}), null, prefixed("v_cache is NULL"));
  REQUIRE_ERROR(without({"out"}), null, prefixed("out is NULL"));
  REQUIRE_ERROR(without({"v"}), null, prefixed("v is NULL; expected a tensor, since k is given"));
  REQUIRE_ERROR(without({"k"}), null, prefixed("k is NULL; expected a tensor, since v is given"));
  REQUIRE_ERROR(without({"sin"}), null, prefixed("sin is NULL; expected a tensor, since cos is given"));
  REQUIRE_ERROR(without({"k", "v"}), null,
                prefixed("k is NULL; expected a tensor, since cos and sin are given"));
  REQUIRE_ERROR(without({"seqlens_k"}), null,
                prefixed("seqlens_k is NULL; expected a tensor, since k is given"));
  a.given[KvCacheArguments::index_of("block_table")] = true;
  REQUIRE_ERROR(a.call(), FLASH_REF_BAD_SHAPE,
                prefixed("cache_batch_idx and block_table are both given; expected one of them to be NULL"));
}

TEST_CASE("kvcache: dtypes") {
  for (const char* role : {"k_cache", "v_cache", "k", "v", "cos", "sin", "out"}) {
    KvCacheArguments a;
    a.named(role).dtype = {2, 32, 1};
    REQUIRE_ERROR(a.call(), FLASH_REF_BAD_DTYPE,
                  prefixed(std::string(role) + " has dtype float32; accepted: bfloat16 (the dtype of q)"));
  }
  for (const char* role : {"seqlens_k", "cache_batch_idx"}) {
    KvCacheArguments a;
    a.named(role).dtype = {0, 64, 1};
    REQUIRE_ERROR(a.call(), FLASH_REF_BAD_DTYPE,
                  prefixed(std::string(role) + " has dtype int64; accepted: int32"));
  }
  KvCacheArguments a;
  TestTensor halves({4}, kFloat16);
  a.options.alibi_slopes = &halves;
  REQUIRE_ERROR(a.call(), FLASH_REF_BAD_DTYPE,
                prefixed("options.alibi_slopes has dtype float16; accepted: float32"));
}

TEST_CASE("kvcache: shapes") {
  KvCacheArguments a;
  const int bad = FLASH_REF_BAD_SHAPE;
  std::int64_t sizes[4] = {3, 8, 2, 16};
  SECTION("dimensions of a cache") {
    a.named("k_cache").ndim = 3;
    REQUIRE_ERROR(a.call(), bad,
                  prefixed("k_cache has 3 dimensions; expected 4: (cache_batch, capacity, kv_heads, dim)"));
  }
  SECTION("heads of the cache") {
    sizes[2] = 3;
    a.named("k_cache").shape = sizes;
    REQUIRE_ERROR(a.call(), bad, prefixed("k_cache has 3 heads; expected a divisor of the 4 heads of q"));
  }
  SECTION("v_cache") {
    sizes[1] = 7;
    a.named("v_cache").shape = sizes;
    REQUIRE_ERROR(a.call(), bad,
                  prefixed("v_cache has shape (3, 7, 2, 16); expected (3, 8, 2, 16) (the shape of k_cache)"));
  }
  SECTION("new keys") {
    sizes[0] = 1;
    sizes[1] = 2;
    a.named("k").shape = sizes;
    REQUIRE_ERROR(
        a.call(), bad,
        prefixed("k has shape (1, 2, 2, 16); expected (2, 2, 2, 16) (batch of q, kv_heads and dim of "
                 "k_cache)"));
  }
  SECTION("batch of the cache") {
    a.leave_out("cache_batch_idx");
    REQUIRE_ERROR(a.call(), bad,
                  prefixed("k_cache has shape (3, 8, 2, 16); expected the batch of q, 2, without "
                           "cache_batch_idx and block_table"));
  }
  SECTION("rows of the tables") {
    std::int64_t table[2] = {4, 6};
    a.named("cos").shape = a.named("sin").shape = table;
    REQUIRE_ERROR(
        a.call(), bad,
        prefixed("cos has 4 rows; expected at least 5, since seqlens_k[0] is 3 and 2 positions follow"));
  }
  SECTION("rows of the tables for queries that go further than the new keys") {
    std::int64_t table[2] = {4, 6};
    sizes[0] = 2, sizes[1] = 1;
    a.named("cos").shape = a.named("sin").shape = table;
    a.named("k").shape = a.named("v").shape = sizes;
    a.set("seqlens_k", 1, 2);
    a.options.causal = 1;
    REQUIRE_ERROR(
        a.call(), bad,
        prefixed("cos has 4 rows; expected at least 5, since seqlens_k[0] is 3 and 2 positions follow"));
    a.options.causal = 0;  // all queries stand at the same place
    CHECK(a.call().status == FLASH_REF_OK);
    sizes[1] = 0;
    table[0] = 3;
    REQUIRE_ERROR(
        a.call(), bad,
        prefixed("cos has 3 rows; expected at least 4, since seqlens_k[0] is 3 and 1 positions follow"));
  }
  SECTION("seqlens_k") {
    std::int64_t one[1] = {1};
    a.named("seqlens_k").shape = one;
    REQUIRE_ERROR(a.call(), bad,
                  prefixed("seqlens_k has shape (1); expected (batch) with the batch of q, 2"));
  }
}

TEST_CASE("kvcache: numbers that say where keys lie") {
  KvCacheArguments a;
  const int bad = FLASH_REF_BAD_VALUE;
  SECTION("a negative length") {
    a.set("seqlens_k", 1, -1);
    REQUIRE_ERROR(a.call(), bad, prefixed("seqlens_k[1] is -1; expected at least 0"));
  }
  SECTION("no room for new keys") {
    a.set("seqlens_k", 1, 7);
    REQUIRE_ERROR(
        a.call(), bad,
        prefixed("seqlens_k[1] is 7 and k has 2 new keys; expected 8 together at most (the capacity of "
                 "k_cache)"));
  }
  SECTION("a place outside of the cache") {
    a.set("cache_batch_idx", 0, 3);
    REQUIRE_ERROR(a.call(), bad,
                  prefixed("cache_batch_idx[0] is 3; expected 0 to 2 (cache_batch of k_cache)"));
  }
  SECTION("two sequences in one place") {
    a.set("cache_batch_idx", 1, 2);
    REQUIRE_ERROR(
        a.call(), bad,
        prefixed("cache_batch_idx[1] is 2; expected a place of its own, since new keys of sequence 0 go "
                 "there"));
  }
  SECTION("a cache without pages") {
    a.use_pages();
    std::int64_t none[4] = {0, 8, 2, 16};
    for (const char* role : {"k_cache", "v_cache"}) a.named(role).shape = none;
    REQUIRE_ERROR(a.call(), bad,
                  prefixed("block_table[0, 0] is 0; expected none, since k_cache has no pages"));
  }
  SECTION("pages") {
    a.use_pages();
    CHECK(a.call().status == FLASH_REF_OK);
    a.set("block_table", 1, 9);
    REQUIRE_ERROR(a.call(), bad, prefixed("block_table[0, 1] is 9; expected 0 to 2 (pages of k_cache)"));
    a.set("block_table", 1, 1);
    a.set("block_table", 2, 1);
    const Outcome shared = a.call();
    CHECK(shared.status == bad);
    CHECK_FALSE(shared.written);
    a.set("seqlens_k", 0, 0);  // its second page is not used: 1 is sequence 1's alone
    CHECK(a.call().status == FLASH_REF_OK);
  }
}

TEST_CASE("kvcache: outputs and written caches lie apart") {
  KvCacheArguments a;
  SECTION("out on q") {
    a.named("out").data = a.named("q").data;
    REQUIRE_ERROR(a.call(), FLASH_REF_BAD_LAYOUT, prefixed("out shares memory with q"));
  }
  SECTION("one buffer for both caches") {
    a.named("v_cache").data = a.named("k_cache").data;
    REQUIRE_ERROR(a.call(), FLASH_REF_BAD_LAYOUT, prefixed("k_cache shares memory with v_cache"));
    for (const char* role : {"k", "v", "cos", "sin"}) a.leave_out(role);
    CHECK(a.call().status == FLASH_REF_OK);  // nothing is stored
  }
}

TEST_CASE("kvcache: options") {
  KvCacheArguments a;
  const int bad = FLASH_REF_BAD_OPTIONS;
  a.options.interleaved = 2;
  REQUIRE_ERROR(a.call(), bad, prefixed("options.interleaved is 2; expected 0 or 1"));
  a.options.interleaved = 0;
  a.options.softcap = -1;
  REQUIRE_ERROR(a.call(), bad, prefixed("options.softcap is -1; expected 0 or a number from 1e-06 to 1e+30"));
  a.options.softcap = 0;
  a.options.struct_size = 12;
  REQUIRE_ERROR(a.call(), bad,
                prefixed("options.struct_size is 12; expected 64, sizeof(flash_ref_kvcache_options)"));
  char workspace[64];
  a.options.struct_size = sizeof a.options;
  a.options.workspace = workspace;
  a.options.workspace_bytes = sizeof workspace;
  const Outcome outcome = a.call();
  CHECK(outcome.status == FLASH_REF_BAD_WORKSPACE);
  CHECK_FALSE(outcome.written);
}
