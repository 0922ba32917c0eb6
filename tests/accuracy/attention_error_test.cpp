// Attention, forward, against fp64 by the error rule.
#include "tests/accuracy/attention_run.h"
#include "tests/catch.h"

using namespace flash_ref_test;
using flash_ref::reference::AttentionCase;

namespace {

void require_right(const AttentionCase& sizes, TestDtype dtype, std::uint32_t seed,
                   AttentionLayouts layouts = {}, double spread = 1.0) {
  INFO(describe(sizes, dtype) << ", seed " << seed << ", layouts " << static_cast<int>(layouts.q)
                              << static_cast<int>(layouts.k) << static_cast<int>(layouts.v)
                              << static_cast<int>(layouts.out) << static_cast<int>(layouts.lse));
  CHECK(check_attention(sizes, dtype, seed, layouts, spread) == "");
}

}  // namespace

TEST_CASE("attention keeps the error rule for every head dim") {
  for (const TestDtype& dtype : {kFloat16, kBFloat16}) {
    for (std::int64_t dim : {32, 48, 64, 72, 80, 96, 112, 128, 160, 192, 224, 256}) {
      for (bool causal : {false, true}) {
        require_right({1, 67, 83, 2, 2, dim, causal}, dtype, static_cast<std::uint32_t>(dim));
      }
    }
  }
}

TEST_CASE("attention keeps the error rule for odd head dims") {
  for (std::int64_t dim : {1, 3, 17, 33}) require_right({1, 19, 21, 2, 1, dim}, kFloat16, 5);
}

TEST_CASE("attention keeps the error rule for grouped and multi-query heads") {
  for (const TestDtype& dtype : {kFloat16, kBFloat16}) {
    for (auto [heads, kv_heads] : {std::pair{8, 8}, {8, 4}, {8, 2}, {8, 1}, {6, 3}, {1, 1}}) {
      require_right({2, 33, 41, heads, kv_heads, 64, true}, dtype, 7);
    }
  }
}

TEST_CASE("attention keeps the error rule for lengths around the tile size") {
  for (std::int64_t seq_q : {1, 2, 63, 64, 65, 127, 129}) {
    for (std::int64_t seq_k : {1, 2, 63, 64, 65, 128, 191}) {
      for (bool causal : {false, true}) require_right({1, seq_q, seq_k, 1, 1, 32, causal}, kBFloat16, 11);
    }
  }
}

TEST_CASE("attention keeps the error rule for every combination of layouts") {
  for (Layout q : kLayouts) {
    for (Layout k : kLayouts) {
      for (Layout v : kLayouts) require_right({2, 9, 13, 4, 2, 40, true}, kFloat16, 13, {q, k, v, q, v});
    }
  }
}

TEST_CASE("attention keeps the error rule for large logits, peaked softmax and other scales") {
  for (double spread : {0.01, 4.0, 16.0}) require_right({1, 40, 70, 2, 2, 64}, kFloat16, 17, {}, spread);
  for (double scale : {0.03125, 1.0, -0.5}) require_right({1, 40, 70, 2, 1, 64, true, scale}, kBFloat16, 19);
}

// Scores of one key each, whose terms are large and cancel: sums of float32 one after the other miss lse's
// bound.
TEST_CASE("lse keeps its bound where long products are much smaller than their terms", "[cpu]") {
  for (std::uint32_t seed : {1, 2, 3}) require_right({4, 800, 1, 2, 2, 256, false, 1.5}, kFloat16, seed);
}

TEST_CASE("attention keeps the error rule when threads share the work") {
  require_right({2, 200, 260, 4, 2, 64, true}, kBFloat16, 23);
}

TEST_CASE("attention keeps the error rule for random sizes and layouts") {
  std::mt19937 random(20240611);
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  const auto layout = [&] { return kLayouts[static_cast<std::size_t>(pick(0, 4))]; };
  for (std::uint32_t i = 0; i < 60; ++i) {
    const std::int64_t kv_heads = pick(1, 3);
    const std::int64_t batch = pick(0, 9) == 0 ? 0 : pick(1, 2);
    const std::int64_t seq_q = pick(0, 4) == 0 ? pick(0, 1) : pick(1, 90);
    const std::int64_t seq_k = pick(0, 4) == 0 ? pick(0, 1) : pick(1, 150);
    const std::int64_t dim = pick(0, 3) == 0 ? pick(1, 70) : 8 * pick(4, 32);
    const AttentionCase sizes{batch, seq_q, seq_k, kv_heads * pick(1, 3), kv_heads, dim, pick(0, 1) == 1};
    require_right(sizes, pick(0, 1) == 0 ? kFloat16 : kBFloat16, i,
                  {layout(), layout(), layout(), layout(), layout()});
  }
}
