// Attention with a cache where the answer is known without an oracle, and what a refused call leaves alone.
#include <cmath>
#include <limits>

#include "tests/accuracy/kvcache_run.h"
#include "tests/catch.h"

using namespace flash_ref_test;
using flash_ref::reference::KvCacheCase;
using flash_ref::reference::KvCacheInputs;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Filled {
  KvCacheInputs inputs;
  KvCacheCall call;
  Filled(const KvCacheCase& sizes, TestDtype dtype, std::uint32_t seed, Placement placement = {})
      : inputs(inputs_of(sizes, dtype, seed)), call(sizes, dtype, placement) {
    call.fill(inputs);
  }
  static KvCacheInputs inputs_of(const KvCacheCase& sizes, TestDtype dtype, std::uint32_t seed) {
    std::mt19937 random(seed);
    return random_inputs(sizes, dtype, random);
  }
};

}  // namespace

TEST_CASE("pages, places and order of the cache do not change a bit") {
  for (const TestDtype& dtype : {kFloat16, kBFloat16}) {
    for (std::int64_t chunk : {1, 7, 60}) {
      KvCacheCase sizes{chunk, chunk, 4, 2, 64, 600, {500, 33}};
      sizes.pairs = 16;
      sizes.positions = 600;
      sizes.causal = true;
      Filled whole(sizes, dtype, 1);
      REQUIRE(whole.call.run() == FLASH_REF_OK);
      for (Placement placement :
           {Placement{Placement::kByIndex}, Placement{Placement::kPaged, 1}, Placement{Placement::kPaged, 5},
            Placement{Placement::kPaged, 16}, Placement{Placement::kPaged, 300},
            Placement{Placement::kPaged, 512, Layout::kPermuted}}) {
        INFO(describe(sizes, dtype, placement));
        Filled other(sizes, dtype, 1, placement);
        REQUIRE(other.call.run() == FLASH_REF_OK);
        CHECK(other.call.out.all_bits() == whole.call.out.all_bits());
        CHECK(other.call.lse.all_bits() == whole.call.lse.all_bits());
      }
    }
  }
}

TEST_CASE("a sequence gets the bits that it gets alone") {
  const KvCacheCase both{1, 1, 4, 2, 64, 2000, {1500, 40}}, second{1, 1, 4, 2, 64, 2000, {40}};
  Filled together(both, kBFloat16, 2);
  KvCacheInputs inputs = together.inputs;
  const auto half = [](std::vector<double>& numbers) {
    numbers.erase(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2));
  };
  for (auto* numbers : {&inputs.q, &inputs.k, &inputs.v, &inputs.k_cache, &inputs.v_cache}) half(*numbers);
  KvCacheCall alone(second, kBFloat16);
  alone.fill(inputs);
  REQUIRE(together.call.run() == FLASH_REF_OK);
  REQUIRE(alone.run() == FLASH_REF_OK);
  const auto bits = together.call.out.all_bits();
  CHECK(std::vector<std::uint32_t>(bits.begin() + 256, bits.end()) == alone.out.all_bits());
}

TEST_CASE("stored values are v, and without rotation stored keys are k, bit for bit") {
  const KvCacheCase sizes{1, 3, 2, 2, 40, 64, {5, 60}};
  Filled filled(sizes, kFloat16, 3, {Placement::kPaged, 4});
  std::mt19937 random(3);
  for (std::size_t i = 0; i < filled.call.k.size(); ++i) {
    filled.call.k.set_bits(i, random() & 0xffffU);  // NaNs with payloads among them
    filled.call.v.set_bits(i, random() & 0xffffU);
  }
  REQUIRE(filled.call.run() == FLASH_REF_OK);
  for (std::int64_t b = 0; b < 2; ++b) {
    for (std::int64_t i = 0; i < 3 * 80; ++i) {
      const auto from = static_cast<std::size_t>(b * 3 * 80 + i);
      const std::size_t to = filled.call.place(b, sizes.cached[static_cast<std::size_t>(b)] + i / 80, i % 80);
      CHECK(filled.call.k_cache.bits(to) == filled.call.k.bits(from));
      CHECK(filled.call.v_cache.bits(to) == filled.call.v.bits(from));
    }
  }
}

TEST_CASE("an empty cache gives zeros and minus infinity, and one key gives its value") {
  for (std::int64_t queries : {1, 60}) {
    Filled empty({queries, 0, 2, 1, 32, 16, {0}}, kFloat16, 4);
    REQUIRE(empty.call.run() == FLASH_REF_OK);
    CHECK(empty.call.out.values() == std::vector<double>(static_cast<std::size_t>(queries) * 64, 0.0));
    CHECK(empty.call.lse.values() == std::vector<double>(static_cast<std::size_t>(queries) * 2, -kInfinity));
    Filled one({queries, 1, 2, 1, 32, 16, {0}}, kFloat16, 5);
    REQUIRE(one.call.run() == FLASH_REF_OK);
    for (std::size_t i = 0; i < one.call.out.size(); ++i)
      CHECK(one.call.out.bits(i) == one.call.v.bits(i % 32));
  }
}

TEST_CASE("calls without sequences, queries or heads are fine, and store new keys all the same") {
  Filled none({1, 1, 2, 1, 16, 8, {}}, kFloat16, 6);
  CHECK(none.call.run() == FLASH_REF_OK);
  Filled no_queries({0, 2, 2, 1, 16, 8, {3}}, kFloat16, 7);
  REQUIRE(no_queries.call.run() == FLASH_REF_OK);
  CHECK(no_queries.call.v_cache.bits(no_queries.call.place(0, 4, 0)) == no_queries.call.v.bits(16));
  Filled no_dim({1, 0, 2, 1, 0, 8, {3}}, kFloat16, 8);
  REQUIRE(no_dim.call.run() == FLASH_REF_OK);
  for (double lse : no_dim.call.lse.values()) CHECK(lse == Approx(std::log(3.0)));
}

TEST_CASE("NaN and infinity in the cache reach what depends on them and nothing else") {
  for (std::int64_t chunk : {1, 4, 50}) {
    KvCacheCase sizes{chunk, chunk, 2, 2, 32, 400, {300, 300}};
    sizes.causal = true;
    Filled filled(sizes, kBFloat16, 9);
    // v of the last key of sequence 0, head 1: only the last query sees it.
    filled.call.v.set_bits(static_cast<std::size_t>((chunk - 1) * 64 + 32 + 7), 0x7f80U);
    REQUIRE(filled.call.run() == FLASH_REF_OK);
    const auto out = filled.call.out.values();
    for (std::size_t i = 0; i < out.size(); ++i) {
      const bool touched = i == static_cast<std::size_t>((chunk - 1) * 64 + 32 + 7);
      CHECK(std::isfinite(out[i]) == !touched);
    }
  }
}

TEST_CASE("a NaN in a cached key reaches the queries that see it, of the heads that read it") {
  for (std::int64_t chunk : {1, 4, 50}) {
    KvCacheCase sizes{chunk, chunk, 4, 2, 32, 400, {300, 300}};
    sizes.causal = true;
    sizes.window = 60;
    Filled filled(sizes, kFloat16, 9);
    KvCacheCall& call = filled.call;
    const std::int64_t key = 290;  // of sequence 1, kv head 0: query i sees keys from 300 + i - 59 on
    call.k_cache.set_bits(call.place(1, key, 3), 0x7e00U);
    REQUIRE(call.run() == FLASH_REF_OK);
    const auto out = call.out.values();
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto row = static_cast<std::int64_t>(i) / 128;
      const std::int64_t query = row % chunk, sequence = row / chunk;
      const bool touched = sequence == 1 && i % 128 / 32 < 2 && 300 + query - 59 <= key;
      CHECK(std::isnan(out[i]) == touched);
    }
  }
}

TEST_CASE("without seqlens_k all of the cache is used") {
  const KvCacheCase sizes{1, 0, 4, 2, 64, 130, {130, 130}};
  Filled with(sizes, kFloat16, 10), without(sizes, kFloat16, 10);
  REQUIRE(with.call.run() == FLASH_REF_OK);
  KvCacheCall& call = without.call;
  REQUIRE(flash_ref_attention_kvcache(&call.q, &call.k_cache, &call.v_cache, nullptr, nullptr, nullptr,
                                      nullptr, nullptr, nullptr, nullptr, &call.out, &call.lse,
                                      nullptr) == FLASH_REF_OK);
  CHECK(call.out.memory() == with.call.out.memory());
}

TEST_CASE("a workspace of the caller gives the same bits with a cache, at full size and at the least size",
          "[cpu]") {
  KvCacheCase sizes{3, 3, 8, 4, 64, 1500, {1400, 20}};
  sizes.pairs = 32;
  sizes.positions = 1500;
  Filled own(sizes, kBFloat16, 11), given(sizes, kBFloat16, 11);
  REQUIRE(own.call.run() == FLASH_REF_OK);
  KvCacheCall& call = given.call;
  flash_ref_kvcache_options options = call.options();
  std::size_t bytes = 0;
  REQUIRE(flash_ref_attention_kvcache_workspace(&call.q, &call.k_cache, &call.v_cache, &call.k, &call.v,
                                                &call.cos, &call.sin, &call.seqlens, nullptr, nullptr,
                                                &options, &bytes) == FLASH_REF_OK);
  std::vector<std::uint8_t> workspace(bytes + 16, 0x5a);
  options.workspace = workspace.data() + 1;
  options.workspace_bytes = 1;
  const auto cache = call.k_cache.memory(), out = call.out.memory();
  REQUIRE(call.run(options) == FLASH_REF_BAD_WORKSPACE);
  CHECK(call.k_cache.memory() == cache);
  CHECK(call.out.memory() == out);
  const std::string message = flash_ref_last_error();
  const std::size_t least = std::stoul(message.substr(message.rfind(' ') + 1));
  REQUIRE(least <= bytes);
  for (std::size_t size : {bytes, least}) {
    options.workspace_bytes = size;
    REQUIRE(call.run(options) == FLASH_REF_OK);  // the same keys go to the same places
    CHECK(call.out.memory() == own.call.out.memory());
    CHECK(call.k_cache.memory() == own.call.k_cache.memory());
    CHECK(workspace[0] == 0x5a);
    for (std::size_t i = size + 1; i < workspace.size(); ++i)
      REQUIRE((size != bytes || workspace[i] == 0x5a));
  }
}

// Rotated queries and gathered pages have their place in it too, and there may be one thread only.
TEST_CASE("the workspace that is named is enough, and data are not needed to name it", "[cpu]") {
  for (const std::int64_t pairs : {0, 16}) {
    for (const Placement placement : {Placement{}, Placement{Placement::kPaged, 16}}) {
      for (const std::int64_t queries : {1, 100}) {
        KvCacheCase sizes{queries, queries, 4, 4, 64, 400, {200, 133}};
        sizes.pairs = pairs, sizes.positions = 512;
        INFO(pairs << " pairs, pages of " << placement.page_size << ", " << queries << " queries");
        Filled given(sizes, kBFloat16, 12, placement);
        flash_ref_kvcache_options options = given.call.options();
        const std::size_t bytes = given.call.workspace_bytes(options, true);
        CHECK(given.call.workspace_bytes(options, false) == bytes);
        std::vector<std::uint8_t> workspace(bytes);
        options.workspace = workspace.data();
        options.workspace_bytes = 1;
        REQUIRE(given.call.run(options) == FLASH_REF_BAD_WORKSPACE);
        const std::string message = flash_ref_last_error();
        CHECK(std::stoul(message.substr(message.rfind(' ') + 1)) <= bytes);
        options.workspace_bytes = bytes;
        CHECK(given.call.run(options) == FLASH_REF_OK);
      }
    }
  }
}
