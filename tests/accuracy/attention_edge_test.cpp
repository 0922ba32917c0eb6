// Attention where the answer is known without an oracle: masks, empty tensors, NaN, exact cases.
#include <cmath>
#include <limits>

#include "tests/accuracy/attention_run.h"
#include "tests/catch.h"

using namespace flash_ref_test;
using flash_ref::reference::AttentionCase;
using flash_ref::reference::AttentionInputs;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("a query that sees no key gets zeros and minus infinity") {
  const AttentionCase sizes{1, 70, 3, 2, 1, 32, true};  // queries 0 to 66 precede every key
  std::mt19937 random(1);
  AttentionCall call(sizes, kFloat16);
  call.fill(random_inputs(sizes, kFloat16, random));
  REQUIRE(call.run() == FLASH_REF_OK);
  const auto lse = call.lse.values();
  for (std::size_t row = 0; row < 70; ++row) {
    const bool masked = row < 67;
    CHECK((lse[row] == -kInfinity) == masked);
    bool zeros = true;
    for (std::size_t d = 0; d < 64; ++d) zeros = zeros && call.out.bits(row * 64 + d) == 0;
    CHECK(zeros == masked);
  }
}

TEST_CASE("without keys every row is zero") {
  AttentionCall call({2, 5, 0, 2, 1, 16}, kBFloat16);
  REQUIRE(call.run() == FLASH_REF_OK);
  CHECK(call.out.values() == std::vector<double>(2 * 5 * 2 * 16, 0.0));
  CHECK(call.lse.values() == std::vector<double>(2 * 2 * 5, -kInfinity));
}

TEST_CASE("tensors without elements are fine, and lse is still written where it has some") {
  for (const AttentionCase& sizes : {AttentionCase{0, 4, 4, 2, 2, 16}, AttentionCase{1, 0, 4, 2, 2, 16},
                                     AttentionCase{1, 4, 4, 0, 0, 16}, AttentionCase{1, 4, 4, 0, 2, 16}}) {
    AttentionCall call(sizes, kFloat16);
    CHECK(call.run() == FLASH_REF_OK);
  }
  AttentionCall call({1, 2, 4, 1, 1, 0}, kFloat16, {Layout::kPadded, Layout::kPadded, Layout::kPadded});
  REQUIRE(call.run() == FLASH_REF_OK);
  for (double lse : call.lse.values()) CHECK(lse == Approx(std::log(4.0)));
}

TEST_CASE("one key: out is v, bit for bit") {
  const AttentionCase sizes{1, 3, 1, 4, 2, 48};
  std::mt19937 random(2);
  AttentionCall call(sizes, kBFloat16);
  call.fill(random_inputs(sizes, kBFloat16, random));
  REQUIRE(call.run() == FLASH_REF_OK);
  for (std::size_t i = 0; i < call.out.size(); ++i) {
    CHECK(call.out.bits(i) == call.v.bits(i / 48 % 4 / 2 * 48 + i % 48));
  }
}

TEST_CASE("lse may be left out and does not change out") {
  const AttentionCase sizes{1, 20, 30, 2, 1, 64};
  std::mt19937 random(3);
  AttentionCall with(sizes, kFloat16), without(sizes, kFloat16);
  const AttentionInputs inputs = random_inputs(sizes, kFloat16, random);
  with.fill(inputs);
  without.fill(inputs);
  REQUIRE(with.run() == FLASH_REF_OK);
  REQUIRE(flash_ref_attention_fwd(&without.q, &without.k, &without.v, &without.out, nullptr, nullptr) == 0);
  CHECK(with.out.memory() == without.out.memory());
}

TEST_CASE("NaN reaches the rows and columns that depend on it and no others") {
  const AttentionCase sizes{1, 6, 6, 1, 1, 32, true};
  std::mt19937 random(4);
  AttentionInputs inputs = random_inputs(sizes, kFloat16, random);
  const char* where = "";
  std::size_t first_row = 0, last_row = 5, column = 99;  // 99: all
  SECTION("in q") { where = "q", inputs.q[2 * 32 + 7] = kNan, first_row = last_row = 2; }
  SECTION("in k") { where = "k", inputs.k[4 * 32 + 7] = kNan, first_row = 4; }
  SECTION("in v") { where = "v", inputs.v[4 * 32 + 7] = kNan, first_row = 4, column = 7; }
  INFO("NaN in " << where);
  AttentionCall call(sizes, kFloat16);
  call.fill(inputs);
  REQUIRE(call.run() == FLASH_REF_OK);
  const auto out = call.out.values();
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t row = i / 32;
    const bool touched = row >= first_row && row <= last_row && (column == 99 || i % 32 == column);
    CHECK(std::isnan(out[i]) == touched);
  }
}

TEST_CASE("infinity in v makes the column infinite for the rows that see it and no others") {
  for (const TestDtype& dtype : {kFloat16, kBFloat16}) {
    for (auto [seq_q, seq_k] : {std::pair{6, 6}, {70, 300}}) {  // decoded, and in tiles
      const AttentionCase sizes{1, seq_q, seq_k, 1, 1, 32, true};
      std::mt19937 random(4);
      AttentionInputs inputs = random_inputs(sizes, dtype, random);
      const std::size_t key = static_cast<std::size_t>(seq_k) - 2;
      inputs.v[key * 32 + 7] = -kInfinity;
      AttentionCall call(sizes, dtype);
      call.fill(inputs);
      REQUIRE(call.run() == FLASH_REF_OK);
      const auto out = call.out.values();
      for (std::size_t i = 0; i < out.size(); ++i) {
        const std::size_t position = i / 32 + static_cast<std::size_t>(seq_k - seq_q);
        CHECK((out[i] == -kInfinity) == (position >= key && i % 32 == 7));
        CHECK(std::isfinite(out[i]) != (position >= key && i % 32 == 7));
      }
      for (double lse : call.lse.values()) CHECK(std::isfinite(lse));
    }
  }
}

TEST_CASE("a row whose only scores are NaN has lse NaN") {
  AttentionCall call({1, 1, 1, 1, 1, 16}, kFloat16);
  call.fill({std::vector<double>(16, kNan), std::vector<double>(16, 1.0), std::vector<double>(16, 1.0)});
  REQUIRE(call.run() == FLASH_REF_OK);
  CHECK(std::isnan(call.lse.values()[0]));
  CHECK(std::isnan(call.out.values()[0]));
}

TEST_CASE("a workspace of the caller gives the same bits, at full size and at the least size", "[cpu]") {
  const AttentionCase sizes{2, 100, 150, 4, 4, 64, true};
  std::mt19937 random(5);
  AttentionCall call(sizes, kFloat16), other(sizes, kFloat16);
  const AttentionInputs inputs = random_inputs(sizes, kFloat16, random);
  call.fill(inputs);
  other.fill(inputs);
  REQUIRE(call.run() == FLASH_REF_OK);

  flash_ref_attention_options options{};
  options.struct_size = sizeof options;
  options.causal = 1;
  std::size_t bytes = 0;
  REQUIRE(flash_ref_attention_fwd_workspace(&other.q, &other.k, &other.v, &options, &bytes) == FLASH_REF_OK);
  REQUIRE(bytes > 0);
  std::vector<std::uint8_t> workspace(bytes + 16, 0x5a);
  options.workspace = workspace.data() + 1;  // no alignment is asked for
  options.workspace_bytes = 1;
  REQUIRE(other.run(options) == FLASH_REF_BAD_WORKSPACE);
  const std::string message = flash_ref_last_error();
  const std::size_t least = std::stoul(message.substr(message.rfind(' ') + 1));
  REQUIRE(least <= bytes);
  for (std::size_t given : {bytes, least}) {
    options.workspace_bytes = given;
    REQUIRE(other.run(options) == FLASH_REF_OK);
    CHECK(other.out.memory() == call.out.memory());
    CHECK(other.lse.memory() == call.lse.memory());
    CHECK(workspace[0] == 0x5a);
    for (std::size_t i = given + 1; i < workspace.size(); ++i)
      REQUIRE((given != bytes || workspace[i] == 0x5a));
  }
}
