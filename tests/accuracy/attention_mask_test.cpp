// Boolean and additive masks, forward and backward.
#include <cmath>
#include <limits>

#include "tests/accuracy/attention_bwd_run.h"
#include "tests/catch.h"

using namespace flash_ref_test;
using flash_ref::reference::AttentionCase;
using flash_ref::reference::AttentionInputs;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("attention with a mask of each dtype keeps the error rule, forward and backward") {
  for (const TestDtype& dtype : {kFloat16, kBFloat16}) {
    for (MaskAs mask : {MaskAs::kTruths, MaskAs::kFloats, MaskAs::kLikeQ}) {
      for (const AttentionCase& sizes :
           {AttentionCase{2, 37, 290, 4, 2, 40, true}, AttentionCase{1, 70, 45, 2, 1, 64, false, 0, 20.0, 30},
            AttentionCase{1, 2, 1100, 2, 1, 32}}) {
        for (Layout layout : {Layout::kCompact, Layout::kScattered}) {
          INFO(describe(sizes, dtype) << ", mask " << static_cast<int>(mask));
          CHECK(check_attention(sizes, dtype, 41, {layout, layout}, 1.0, {true, mask}) == "");
          CHECK(check_attention_bwd(sizes, dtype, 43, {layout, layout}, 1.0, {false, mask}) == "");
        }
      }
    }
  }
}

TEST_CASE("a row whose mask hides every key gets zeros and minus infinity, and gives zeros back") {
  const AttentionCase sizes{1, 4, 40, 1, 1, 32};
  for (const TestDtype& dtype : {kFloat16, kBFloat16}) {
    for (const auto& [mask, hidden] : {std::pair(MaskAs::kTruths, -kInfinity),
                                       {MaskAs::kFloats, -kInfinity},
                                       {MaskAs::kFloats, -3.4e38}}) {
      std::mt19937 random(3);
      AttentionInputs inputs = random_inputs(sizes, dtype, random);
      inputs.mask.assign(160, 0.0);
      const double hides = mask == MaskAs::kFloats ? hidden : -kInfinity;
      std::fill_n(inputs.mask.begin() + 40, 40, hides);
      AttentionBwdCall call(sizes, dtype);
      call.forward.mask_as = mask;
      call.fill(inputs, random_values(random, inputs.q.size(), dtype));
      REQUIRE(call.run() == FLASH_REF_OK);
      const auto lse = call.forward.lse.values(), dk = call.dk.values();
      for (std::size_t row = 0; row < 4; ++row) {
        CHECK((lse[row] == -kInfinity) == (row == 1));
        for (std::size_t d = 0; d < 32; ++d) {
          CHECK((call.forward.out.bits(row * 32 + d) == 0) == (row == 1));
          CHECK((call.dq.bits(row * 32 + d) == 0) == (row == 1));
        }
      }
      for (double value : dk) CHECK(std::isfinite(value));
    }
  }
}

TEST_CASE("a mask of fewer sizes serves all batches, heads or queries") {
  const AttentionCase sizes{2, 5, 50, 4, 2, 32};
  std::mt19937 random(9);
  AttentionInputs inputs = random_inputs(sizes, kBFloat16, random);
  const auto column = random_values(random, 50, kFloat32), plane = random_values(random, 250, kFloat32);
  const auto run = [&](const std::vector<std::int64_t>& shape, const std::vector<double>& values) {
    AttentionCall call(sizes, kBFloat16);
    call.fill(inputs);
    TestTensor mask(shape, kFloat32);
    mask.set(values);
    flash_ref_attention_options options = call.options();
    options.mask = &mask;
    REQUIRE(call.run(options) == FLASH_REF_OK);
    return call.out.values();
  };
  const auto full = [&](const std::vector<double>& values) {
    AttentionCall call(sizes, kBFloat16);
    for (std::size_t i = 0; i < 2 * 4 * 250; ++i) inputs.mask.push_back(values[i % values.size()]);
    call.fill(inputs);
    inputs.mask.clear();
    REQUIRE(call.run() == FLASH_REF_OK);
    return call.out.values();
  };
  CHECK(run({1, 50}, column) == full(column));
  CHECK(run({1, 1, 1, 50}, column) == full(column));
  CHECK(run({5, 50}, plane) == full(plane));
  CHECK(run({1, 1, 5, 50}, plane) == full(plane));
  CHECK(run({1, 50}, column) != full(plane));
}
