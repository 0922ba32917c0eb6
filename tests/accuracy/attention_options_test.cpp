// Window, softcap and ALiBi against fp64 by the error rule, alone and together.
#include <cmath>
#include <limits>

#include "tests/accuracy/attention_run.h"
#include "tests/catch.h"

using namespace flash_ref_test;
using flash_ref::reference::AttentionCase;

namespace {

void require_right(const AttentionCase& sizes, TestDtype dtype, bool alibi = false, double spread = 1.0) {
  INFO(describe(sizes, dtype) << (alibi ? ", ALiBi" : ""));
  CHECK(check_attention(sizes, dtype, 29, {}, spread, {alibi, MaskAs::kNothing}) == "");
}

}  // namespace

TEST_CASE("attention with a window keeps the error rule") {
  for (const TestDtype& dtype : {kFloat16, kBFloat16}) {
    for (std::int64_t window : {1, 2, 31, 32, 33, 64, 300, 1000000}) {
      for (bool causal : {false, true}) {
        for (auto [seq_q, seq_k] : {std::pair{70, 70}, {20, 530}, {90, 40}}) {
          require_right({1, seq_q, seq_k, 4, 2, 40, causal, 0, 0, window}, dtype);
        }
      }
    }
  }
}

TEST_CASE("attention with softcap keeps the error rule") {
  for (const TestDtype& dtype : {kFloat16, kBFloat16}) {
    for (double softcap : {0.5, 5.0, 50.0}) {
      for (double spread : {0.1, 1.0, 8.0}) {
        require_right({1, 40, 90, 2, 1, 64, true, 0, softcap}, dtype, false, spread);
      }
    }
  }
}

TEST_CASE("attention with ALiBi keeps the error rule") {
  for (const TestDtype& dtype : {kFloat16, kBFloat16}) {
    for (bool causal : {false, true}) {
      require_right({2, 50, 300, 6, 3, 64, causal}, dtype, true);
      require_right({1, 80, 60, 2, 2, 32, causal, 0, 20.0, 25}, dtype, true);
    }
  }
}

TEST_CASE("ALiBi's steepest slope leaves each query its own key") {
  const AttentionCase sizes{1, 20, 20, 1, 1, 32};
  std::mt19937 random(6);
  auto inputs = random_inputs(sizes, kFloat16, random);
  inputs.slopes = {3e38};
  AttentionCall call(sizes, kFloat16);
  call.fill(inputs);
  REQUIRE(call.run() == FLASH_REF_OK);
  CHECK(call.out.values() == inputs.v);
}

TEST_CASE("a window reaches no NaN beyond it") {
  const AttentionCase sizes{1, 40, 40, 1, 1, 32, false, 0, 0, 3};
  for (const TestDtype& dtype : {kFloat16, kBFloat16}) {
    std::mt19937 random(4);
    auto inputs = random_inputs(sizes, dtype, random);
    inputs.v[20 * 32 + 5] = std::numeric_limits<double>::quiet_NaN();
    AttentionCall call(sizes, dtype);
    call.fill(inputs);
    REQUIRE(call.run() == FLASH_REF_OK);
    const auto out = call.out.values();
    for (std::size_t i = 0; i < out.size(); ++i) {
      const bool touched = i % 32 == 5 && i / 32 >= 18 && i / 32 <= 22;
      CHECK(std::isnan(out[i]) == touched);
    }
  }
}

TEST_CASE("attention keeps the error rule for few queries and many keys") {
  for (const TestDtype& dtype : {kFloat16, kBFloat16}) {
    for (std::int64_t seq_q : {1, 5}) {
      for (std::int64_t seq_k : {511, 512, 513, 2500}) {
        for (std::int64_t window : {0, 2, 700}) {
          require_right({2, seq_q, seq_k, 6, 2, 48, true, 0, 0, window}, dtype);
        }
      }
    }
    require_right({1, 3, 1800, 4, 1, 64, false, 0, 30.0}, dtype, true);
  }
}

TEST_CASE("many keys and few queries: a NaN score makes its row NaN, a NaN behind the mask does not") {
  const AttentionCase sizes{1, 2, 1100, 1, 1, 32, true};
  std::mt19937 random(5);
  auto inputs = random_inputs(sizes, kBFloat16, random);
  const std::size_t last = 1099 * 32;
  inputs.k[last] = inputs.v[last] = std::numeric_limits<double>::quiet_NaN();
  AttentionCall call(sizes, kBFloat16);
  call.fill(inputs);
  REQUIRE(call.run() == FLASH_REF_OK);
  const auto out = call.out.values();
  for (std::size_t i = 0; i < out.size(); ++i) CHECK(std::isnan(out[i]) == (i >= 32));
  CHECK(std::isnan(call.lse.values()[1]));
  CHECK_FALSE(std::isnan(call.lse.values()[0]));
}
