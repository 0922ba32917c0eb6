// Attention with a cache: the error rule over head dims, groups, placements, masks, rotation and chunks.
#include "tests/accuracy/kvcache_run.h"
#include "tests/accuracy/random_cases.h"
#include "tests/catch.h"

using namespace flash_ref_test;
using flash_ref::reference::KvCacheCase;

namespace {

void require(const KvCacheCase& sizes, TestDtype dtype, std::uint32_t seed, Placement placement = {},
             bool alibi = false, std::uint32_t splits = 0) {
  INFO(describe(sizes, dtype, placement));
  CHECK(check_kvcache(sizes, dtype, seed, placement, alibi, splits) == "");
}

}  // namespace

TEST_CASE("decoding keeps the error rule for every head dim and group") {
  std::uint32_t seed = 100;
  for (const TestDtype& dtype : {kFloat16, kBFloat16}) {
    for (std::int64_t dim : {32, 40, 64, 96, 128, 256}) {
      for (std::int64_t group : {1, 3, 4, 6}) {
        require({1, 1, 2 * group, 2, dim, 300, {37, 270}}, dtype, ++seed);
      }
    }
    require({1, 1, 12, 1, 64, 700, {600}}, dtype, ++seed);   // MQA
    require({1, 1, 40, 1, 64, 300, {280}}, dtype, ++seed);   // more rows than are decoded
    require({1, 1, 8, 8, 32, 1500, {1400}}, dtype, ++seed);  // several ranges of keys
    require({1, 0, 4, 2, 64, 300, {0, 1, 256}}, dtype, ++seed);
  }
}

TEST_CASE("chunks of new keys keep the error rule, causal or not") {
  std::uint32_t seed = 200;
  for (const TestDtype& dtype : {kFloat16, kBFloat16}) {
    for (std::int64_t chunk : {2, 9, 17, 60}) {
      for (bool causal : {false, true}) {
        KvCacheCase sizes{chunk, chunk, 4, 2, 64, 400, {0, 31, 260}};
        sizes.causal = causal;
        require(sizes, dtype, ++seed);
        sizes.seq_q = chunk + 3;  // queries that precede every key see nothing
        require(sizes, dtype, ++seed);
      }
    }
  }
}

TEST_CASE("rotated queries and new keys keep the error rule in both orders") {
  std::uint32_t seed = 300;
  for (const TestDtype& dtype : {kFloat16, kBFloat16}) {
    for (bool interleaved : {false, true}) {
      for (std::int64_t pairs : {8, 32}) {
        for (std::int64_t chunk : {1, 6, 33}) {
          for (bool causal : {false, true}) {
            KvCacheCase sizes{chunk, chunk, 4, 2, 64, 300, {3, 211}};
            sizes.pairs = pairs;
            sizes.positions = 300;
            sizes.interleaved = interleaved;
            sizes.causal = causal;
            require(sizes, dtype, ++seed);
          }
        }
      }
    }
  }
}

TEST_CASE("every placement and layout keeps the error rule") {
  std::uint32_t seed = 400;
  for (const TestDtype& dtype : {kFloat16, kBFloat16}) {
    for (Layout layout : kLayouts) {
      for (Placement placement :
           {Placement{Placement::kByBatch, 0, layout}, Placement{Placement::kByIndex, 0, layout},
            Placement{Placement::kPaged, 16, layout}, Placement{Placement::kPaged, 7, layout},
            Placement{Placement::kPaged, 256, layout}}) {
        for (std::int64_t chunk : {1, 40}) {
          KvCacheCase sizes{chunk, chunk, 6, 2, 48, 340, {290, 0}};
          sizes.pairs = 16;
          sizes.positions = 340;
          sizes.causal = true;
          require(sizes, dtype, ++seed, placement);
        }
      }
    }
  }
}

TEST_CASE("window, softcap and ALiBi keep the error rule with a cache") {
  std::uint32_t seed = 500;
  for (const TestDtype& dtype : {kFloat16, kBFloat16}) {
    for (std::int64_t chunk : {1, 5, 35}) {
      for (bool alibi : {false, true}) {
        for (std::int64_t window : {0, 1, 30, 270}) {
          for (double softcap : {0.0, 20.0}) {
            KvCacheCase sizes{chunk, chunk, 4, 2, 64, 400, {300, 12}};
            sizes.causal = window == 30;
            sizes.window = window;
            sizes.softcap = softcap;
            require(sizes, dtype, ++seed, {Placement::kPaged, 64}, alibi);
          }
        }
      }
    }
  }
}

TEST_CASE("however many ranges the keys are cut into, the error rule holds") {
  for (const TestDtype& dtype : {kFloat16, kBFloat16}) {
    for (std::uint32_t splits : {1U, 2U, 3U, 8U, 1000U}) {
      require({1, 1, 8, 2, 64, 1500, {1400, 5}}, dtype, splits, {}, false, splits);
    }
  }
}

TEST_CASE("random sizes, placements, layouts and options keep the error rule with a cache") {
  Draws draws(20261122);
  for (std::uint32_t i = 0; i < 80; ++i) {
    KvCacheCase sizes{};
    sizes.kv_heads = draws.from(1, 3);
    sizes.heads = sizes.kv_heads * draws.from(1, 5);
    sizes.dim = draws.once_in(4) ? draws.from(1, 70) : 16 * draws.from(2, 8);
    sizes.seq_q = draws.once_in(2) ? draws.from(0, 3) : draws.from(4, 70);
    sizes.seq_new = draws.once_in(3) ? 0 : sizes.seq_q;
    std::int64_t longest = 0;
    for (std::int64_t count = draws.from(0, 3); count > 0; --count) {
      sizes.cached.push_back(draws.once_in(4) ? draws.from(0, 1) : draws.from(2, 700));
      longest = std::max(longest, sizes.cached.back() + sizes.seq_new);
    }
    sizes.capacity = longest + draws.from(0, 9);
    sizes.causal = draws.once_in(2);
    sizes.window = draws.once_in(3) ? draws.from(1, 300) : 0;
    sizes.softcap = draws.once_in(4) ? 15 : 0;
    if (sizes.seq_new > 0 && draws.once_in(2)) {
      sizes.pairs = draws.from(0, sizes.dim / 2);
      sizes.interleaved = draws.once_in(2);
      sizes.positions = sizes.pairs == 0 ? 0 : sizes.capacity + sizes.seq_q;
    }
    Placement placement{static_cast<Placement::Kind>(draws.from(0, 2)), draws.from(1, 90), draws.layout()};
    INFO("case " << i);
    require(sizes, draws.half(), i, placement, draws.once_in(3),
            static_cast<std::uint32_t>(draws.from(0, 3)));
  }
}
