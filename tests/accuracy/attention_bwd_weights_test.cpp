// Gradients where nearly all of the softmax's weight, or of a cap, is in one place; and NaNs of every kind.
#include <cmath>

#include "tests/accuracy/attention_bwd_run.h"
#include "tests/catch.h"

using namespace flash_ref_test;
using flash_ref::reference::AttentionCase;
using flash_ref::reference::AttentionInputs;

namespace {

// NaNs whose low bits are set, as memset and CUDA leave them behind.
constexpr std::uint32_t kNans[] = {0x7fc00000U, 0x7fc00001U, 0x7fffffffU, 0xffffffffU, 0x7fc001ffU};

void require_gradients(const AttentionCase& sizes, TestDtype dtype, const AttentionInputs& inputs,
                       const std::vector<double>& dout) {
  AttentionBwdCall call(sizes, dtype);
  call.fill(inputs, dout);
  REQUIRE(call.run() == FLASH_REF_OK);
  const auto exact = attention_bwd_fp64(sizes, inputs, dout);
  const auto naive = attention_bwd_naive(sizes, inputs, dout, dtype.format);
  INFO(describe(sizes, dtype));
  CHECK(judge(call.dq.values(), exact.dq, naive.dq, dtype) == "");
  CHECK(judge(call.dk.values(), exact.dk, naive.dk, dtype) == "");
  CHECK(judge(call.dv.values(), exact.dv, naive.dv, dtype) == "");
}

}  // namespace

// The last block of keys has a few that hold nearly all of the weight: those of the blocks before count all
// the same.
TEST_CASE("attention backward: a heavy key does not hide the light ones of other blocks") {
  for (const TestDtype& dtype : {kFloat16, kBFloat16}) {
    for (const auto& [dim, light] : {std::pair<std::int64_t, std::int64_t>{64, 256}, {128, 128}, {192, 64}}) {
      const AttentionCase sizes{1, 1, light + 1, 1, 1, dim};
      const auto count = static_cast<std::size_t>(dim), keys = static_cast<std::size_t>(light + 1);
      AttentionInputs inputs;
      inputs.q.assign(count, 0.0), inputs.k.assign(keys * count, 0.0), inputs.v.assign(keys * count, 0.0);
      std::vector<double> dout(count, 0.0);
      inputs.q[0] = 4, dout[1] = 1;
      inputs.k[(keys - 1) * count] = std::round(13 * std::sqrt(static_cast<double>(dim)) / 4);
      for (std::size_t key = 0; key + 1 < keys; ++key) inputs.v[key * count + 1] = 1000;
      require_gradients(sizes, dtype, inputs, dout);
    }
  }
}

// dS is a small difference there: what the roundings of out and lse put in its place would be all of it. With
// bfloat16 the comparison ends where gradients are so small that sums in float32 do not see them.
TEST_CASE("attention backward keeps the error rule where softmax is nearly saturated", "[cpu]") {
  const std::vector<AttentionCase> half = {{1, 67, 83, 2, 1, 64},
                                           {1, 90, 90, 2, 2, 128, true},
                                           {1, 20, 65, 1, 1, 64},
                                           {1, 1, 150, 1, 1, 64},
                                           {2, 40, 130, 1, 1, 64},
                                           {1, 5, 300, 1, 1, 256},
                                           {1, 30, 40, 1, 1, 48, false, 0, 50.0},
                                           {1, 40, 1, 2, 1, 64},
                                           {1, 40, 40, 2, 2, 128, true, 0, 0, 1}};
  const std::vector<AttentionCase> bfloat = {half[0], half[1], half[7], half[8]};
  for (const double spread : {6.0, 14.0, 24.0, 40.0}) {
    for (std::uint32_t seed = 0; seed < 8; ++seed) {
      for (const AttentionCase& sizes : half) {
        INFO(spread << ", seed " << seed << ": " << describe(sizes, kFloat16));
        CHECK(check_attention_bwd(sizes, kFloat16, seed, {}, spread) == "");
      }
      for (const AttentionCase& sizes : bfloat) {
        INFO(spread << ", seed " << seed << ": " << describe(sizes, kBFloat16));
        CHECK(check_attention_bwd(sizes, kBFloat16, seed, {}, spread) == "");
      }
    }
  }
}

// The delta that makes the sum of dS 0 needs more bits than a float has.
TEST_CASE("attention backward keeps the error rule where dS is less than an ulp of delta", "[cpu]") {
  const AttentionCase sizes{1, 5, 300, 1, 1, 256};
  for (const std::uint32_t seed : {15U, 27U})
    CHECK(check_attention_bwd(sizes, kBFloat16, seed, {}, 14.0) == "");
}

TEST_CASE("attention backward keeps the error rule where a softcap is nearly reached", "[cpu]") {
  for (const TestDtype& dtype : {kFloat16, kBFloat16}) {
    for (const auto& [cap, reach] : {std::pair(1.0, 5.0), {30.0, 7.0}}) {
      const AttentionCase sizes{1, 20, 40, 1, 1, 64, false, 0, cap};
      std::mt19937 random(3);
      AttentionInputs inputs = random_inputs(sizes, dtype, random, 0.1);
      const double first = std::round(8 * std::sqrt(reach * cap * 8)) / 8;
      for (std::size_t i = 0; i < inputs.q.size(); i += 64) inputs.q[i] = first;
      for (std::size_t i = 0; i < inputs.k.size(); i += 64) inputs.k[i] = first;
      require_gradients(sizes, dtype, inputs, random_values(random, inputs.q.size(), dtype, 64.0));
    }
  }
}

TEST_CASE("every NaN in a float32 mask or among the slopes reaches its rows", "[cpu]") {
  const AttentionCase sizes{1, 4, 40, 1, 1, 32};
  for (const std::uint32_t nan : kNans) {
    std::mt19937 random(5);
    AttentionInputs inputs = random_inputs(sizes, kFloat16, random);
    inputs.mask.assign(160, 0.0);
    AttentionCall masked(sizes, kFloat16);
    masked.fill(inputs);
    masked.mask->set_bits(40 + 7, nan);
    REQUIRE(masked.run() == FLASH_REF_OK);
    const auto out = masked.out.values(), lse = masked.lse.values();
    for (std::size_t i = 0; i < out.size(); ++i) CHECK(std::isnan(out[i]) == (i / 32 == 1));
    for (std::size_t i = 0; i < lse.size(); ++i) CHECK(std::isnan(lse[i]) == (i == 1));
    inputs.mask.clear();
    inputs.slopes = {0.5};
    AttentionCall sloped(sizes, kFloat16);
    sloped.fill(inputs);
    sloped.slopes.set_bits(0, nan);
    REQUIRE(sloped.run() == FLASH_REF_OK);
    for (const double value : sloped.out.values()) CHECK(std::isnan(value));
  }
}

TEST_CASE("every NaN in lse reaches the gradients of its row", "[cpu]") {
  for (const std::uint32_t nan : kNans) {
    const AttentionCase sizes{1, 3, 40, 1, 1, 32};
    std::mt19937 random(7);
    const AttentionInputs inputs = random_inputs(sizes, kFloat16, random);
    AttentionBwdCall call(sizes, kFloat16);
    call.fill(inputs, random_values(random, inputs.q.size(), kFloat16));
    REQUIRE(call.forward.run() == FLASH_REF_OK);
    call.forward.lse.set_bits(1, nan);
    REQUIRE(call.run_backward(call.forward.options()) == FLASH_REF_OK);
    const auto dq = call.dq.values();
    for (std::size_t i = 0; i < dq.size(); ++i) CHECK(std::isnan(dq[i]) == (i / 32 == 1));
  }
}
