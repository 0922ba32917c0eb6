// The gradients of attention against fp64 by the error rule, and where they are known without an oracle.
#include <cmath>
#include <limits>

#include "tests/accuracy/attention_bwd_run.h"
#include "tests/catch.h"

using namespace flash_ref_test;
using flash_ref::reference::AttentionCase;
using flash_ref::reference::AttentionInputs;

namespace {

void require_right(const AttentionCase& sizes, TestDtype dtype, std::uint32_t seed,
                   AttentionLayouts layouts = {}, double spread = 1.0, Extras extras = {}) {
  INFO(describe(sizes, dtype) << ", seed " << seed << (extras.alibi ? ", ALiBi" : "") << ", layouts "
                              << static_cast<int>(layouts.q) << static_cast<int>(layouts.k)
                              << static_cast<int>(layouts.v) << static_cast<int>(layouts.out)
                              << static_cast<int>(layouts.lse));
  CHECK(check_attention_bwd(sizes, dtype, seed, layouts, spread, extras) == "");
}

double total(const std::vector<double>& out, const std::vector<double>& dout) {
  double sum = 0;
  for (std::size_t i = 0; i < out.size(); ++i) sum += out[i] * dout[i];
  return sum;
}

// The oracle's gradient of every element against the difference quotient of the forward oracle.
void require_differences(const AttentionCase& sizes, AttentionInputs inputs,
                         std::vector<double> AttentionInputs::*input, const std::vector<double>& dout,
                         const std::vector<double>& gradient) {
  constexpr double kStep = 1e-5;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    double& number = (inputs.*input)[i];
    const double at = number;
    number = at + kStep;
    const double above = total(attention_fp64(sizes, inputs).out, dout);
    number = at - kStep;
    const double below = total(attention_fp64(sizes, inputs).out, dout);
    number = at;
    CHECK(gradient[i] == Approx((above - below) / (2 * kStep)).margin(1e-8));
  }
}

}  // namespace

TEST_CASE("the oracle of the backward pass is the derivative of the forward oracle") {
  for (const AttentionCase& sizes :
       {AttentionCase{2, 4, 5, 4, 2, 6}, AttentionCase{1, 5, 3, 2, 1, 4, true, 0.7},
        AttentionCase{1, 4, 7, 2, 2, 4, true, 0, 1.5, 3}}) {
    std::mt19937 random(31);
    AttentionInputs inputs = random_inputs(sizes, kFloat32, random);
    add_extras(sizes, kFloat32, {true, MaskAs::kFloats}, random, inputs);
    const auto dout = random_values(random, inputs.q.size(), kFloat32);
    const auto exact = attention_bwd_fp64(sizes, inputs, dout);
    require_differences(sizes, inputs, &AttentionInputs::q, dout, exact.dq);
    require_differences(sizes, inputs, &AttentionInputs::k, dout, exact.dk);
    require_differences(sizes, inputs, &AttentionInputs::v, dout, exact.dv);
  }
}

TEST_CASE("attention backward keeps the error rule for every head dim") {
  for (const TestDtype& dtype : {kFloat16, kBFloat16}) {
    for (std::int64_t dim : {1, 17, 32, 48, 64, 80, 96, 128, 160, 192, 256}) {
      for (bool causal : {false, true}) {
        require_right({1, 67, 83, 2, 2, dim, causal}, dtype, static_cast<std::uint32_t>(dim));
      }
    }
  }
}

TEST_CASE("attention backward keeps the error rule for grouped heads, whose dk and dv are sums") {
  for (const TestDtype& dtype : {kFloat16, kBFloat16}) {
    for (auto [heads, kv_heads] : {std::pair{8, 8}, {8, 2}, {8, 1}, {6, 3}}) {
      require_right({2, 33, 41, heads, kv_heads, 64, true}, dtype, 7);
    }
  }
}

TEST_CASE("attention backward keeps the error rule for lengths around the tiles") {
  for (const TestDtype& dtype : {kFloat16, kBFloat16}) {
    for (auto [seq_q, seq_k] : {std::pair{1, 1},
                                {1, 300},
                                {300, 1},
                                {95, 127},
                                {96, 128},
                                {97, 129},
                                {191, 255},
                                {193, 257},
                                {3, 40}}) {
      for (bool causal : {false, true}) {
        require_right({1, seq_q, seq_k, 1, 1, 32, causal}, dtype, 11);
        require_right({1, seq_q, seq_k, 1, 1, 72, causal}, dtype, 12);
      }
    }
  }
}

TEST_CASE("attention backward keeps the error rule where rows see a few keys") {
  for (const TestDtype& dtype : {kFloat16, kBFloat16}) {
    for (std::int64_t keys = 1; keys <= 20; ++keys) {
      for (double spread : {1.0, 4.0}) {
        for (std::uint32_t seed = 0; seed < 3; ++seed) {
          require_right({1, keys, keys, 4, 2, 64, true}, dtype, seed, {}, spread);
          require_right({1, 40, keys, 2, 1, 48, false}, dtype, seed, {}, spread);
          require_right({1, 40, 40, 2, 2, 32, true, 0, 0, keys}, dtype, seed, {}, spread);
        }
      }
      require_right({1, keys, keys, 2, 1, 64, true, 0, 9.0}, dtype, 5, {}, 2.0, {true, MaskAs::kFloats});
    }
  }
}

TEST_CASE("a row with one key has no gradient of q and k, to the bit") {
  const AttentionCase sizes{1, 300, 300, 2, 1, 64, false, 0, 0, 1};
  for (const TestDtype& dtype : {kFloat16, kBFloat16}) {
    std::mt19937 random(2);
    const AttentionInputs inputs = random_inputs(sizes, dtype, random);
    AttentionBwdCall call(sizes, dtype);
    call.fill(inputs, random_values(random, inputs.q.size(), dtype));
    REQUIRE(call.run() == FLASH_REF_OK);
    for (double value : call.dq.values()) CHECK(value == 0);
    for (double value : call.dk.values()) CHECK(value == 0);
  }
}

TEST_CASE("lse and out of more keys than are given: the gradients are those of a part of the softmax") {
  // As where the keys are spread over machines: each call has some of the keys, lse and out are those of all.
  const AttentionCase all{1, 6, 12, 1, 1, 32}, part{1, 6, 6, 1, 1, 32};
  for (const TestDtype& dtype : {kFloat16, kBFloat16}) {
    std::mt19937 random(3);
    const AttentionInputs inputs = random_inputs(all, dtype, random);
    const auto dout = random_values(random, inputs.q.size(), dtype);
    const auto exact = attention_bwd_fp64(all, inputs, dout),
               naive = attention_bwd_naive(all, inputs, dout, dtype.format);
    std::vector<double> dk, dv;
    for (std::ptrdiff_t half : {0, 1}) {
      const auto keys = [&](const std::vector<double>& from) {
        return std::vector<double>(from.begin() + half * 192, from.begin() + (half + 1) * 192);
      };
      AttentionBwdCall whole(all, dtype), call(part, dtype);
      whole.fill(inputs, dout);
      REQUIRE(whole.run() == FLASH_REF_OK);
      call.fill({inputs.q, keys(inputs.k), keys(inputs.v)}, dout);
      call.forward.out.set(whole.forward.out.values());
      call.forward.lse.set(whole.forward.lse.values());
      REQUIRE(call.run_backward(call.forward.options()) == FLASH_REF_OK);
      for (double value : call.dk.values()) dk.push_back(value);
      for (double value : call.dv.values()) dv.push_back(value);
    }
    CHECK(judge(dk, exact.dk, naive.dk, dtype) == "");
    CHECK(judge(dv, exact.dv, naive.dv, dtype) == "");
  }
}

TEST_CASE("attention backward takes every layout") {
  for (Layout q : kLayouts) {
    for (Layout k : kLayouts) {
      for (Layout v : kLayouts) require_right({2, 9, 13, 4, 2, 40, true}, kBFloat16, 13, {q, k, v, q, v});
    }
  }
}

TEST_CASE("attention backward with window, softcap, ALiBi and scales keeps the error rule") {
  for (const TestDtype& dtype : {kFloat16, kBFloat16}) {
    for (std::int64_t window : {1, 33, 300}) {
      for (bool causal : {false, true}) {
        require_right({1, 70, 270, 4, 2, 40, causal, 0, 0, window}, dtype, 29);
        require_right({1, 150, 60, 4, 2, 40, causal, 0, 0, window}, dtype, 29);
      }
    }
    for (double softcap : {0.5, 5.0, 50.0}) require_right({1, 40, 90, 2, 1, 64, true, 0, softcap}, dtype, 30);
    require_right({2, 50, 200, 6, 3, 64, true}, dtype, 31, {}, 1.0, {true, MaskAs::kNothing});
    require_right({1, 80, 60, 2, 2, 32, false, 0, 20.0, 25}, dtype, 32, {}, 1.0, {true, MaskAs::kNothing});
    for (double scale : {0.03125, 1.0, -0.5}) require_right({1, 40, 70, 2, 1, 64, true, scale}, dtype, 19);
    for (double spread : {0.01, 4.0}) require_right({1, 40, 70, 2, 2, 64}, dtype, 17, {}, spread);
  }
}

TEST_CASE("attention backward keeps the error rule for random sizes and layouts") {
  std::mt19937 random(20240612);
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  const auto layout = [&] { return kLayouts[static_cast<std::size_t>(pick(0, 4))]; };
  for (std::uint32_t i = 0; i < 40; ++i) {
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

TEST_CASE("attention backward gives the same bits on any number of threads", "[cpu]") {
  const AttentionCase sizes{1, 700, 900, 2, 1, 64, true};
  std::mt19937 random(37);
  const AttentionInputs inputs = random_inputs(sizes, kBFloat16, random);
  const auto dout = random_values(random, inputs.q.size(), kBFloat16);
  AttentionBwdCall many(sizes, kBFloat16), one(sizes, kBFloat16);
  many.fill(inputs, dout);
  one.fill(inputs, dout);
  REQUIRE(many.run() == FLASH_REF_OK);
  REQUIRE(one.forward.run() == FLASH_REF_OK);
  flash_ref_attention_options options = one.forward.options();
  options.workspace_bytes = 1;
  std::vector<std::uint8_t> workspace(std::size_t{64} << 20);
  options.workspace = workspace.data() + 1;
  REQUIRE(one.run_backward(options) == FLASH_REF_BAD_WORKSPACE);
  const std::string message = flash_ref_last_error();
  options.workspace_bytes = std::stoul(message.substr(message.rfind(' ') + 1));  // for one thread
  REQUIRE(options.workspace_bytes < workspace.size());
  REQUIRE(one.run_backward(options) == FLASH_REF_OK);
  CHECK(one.dq.memory() == many.dq.memory());
  CHECK(one.dk.memory() == many.dk.memory());
  CHECK(one.dv.memory() == many.dv.memory());
  std::size_t enough = 0;
  REQUIRE(flash_ref_attention_bwd_workspace(&one.forward.q, &one.forward.k, &one.forward.v, &options,
                                            &enough) == FLASH_REF_OK);
  CHECK(enough >= options.workspace_bytes);
}

TEST_CASE("rows that see no key and keys that no row sees get zeros") {
  const AttentionCase sizes{1, 70, 3, 2, 1, 32, true};  // queries 0 to 66 precede every key
  std::mt19937 random(1);
  const AttentionInputs inputs = random_inputs(sizes, kFloat16, random);
  AttentionBwdCall call(sizes, kFloat16);
  call.fill(inputs, random_values(random, inputs.q.size(), kFloat16));
  REQUIRE(call.run() == FLASH_REF_OK);
  for (std::size_t i = 0; i < std::size_t{67} * 64; ++i) CHECK(call.dq.bits(i) == 0);
  const AttentionCase apart{1, 3, 70, 1, 1, 32, true, 0, 0, 5};  // keys 0 to 62 precede every window
  const AttentionInputs others = random_inputs(apart, kFloat16, random);
  AttentionBwdCall windowed(apart, kFloat16);
  windowed.fill(others, random_values(random, others.q.size(), kFloat16));
  REQUIRE(windowed.run() == FLASH_REF_OK);
  for (std::size_t i = 0; i < std::size_t{63} * 32; ++i) {
    CHECK(windowed.dk.bits(i) == 0);
    CHECK(windowed.dv.bits(i) == 0);
  }
}

TEST_CASE("attention backward of empty tensors writes zeros where there are elements") {
  for (const AttentionCase& sizes :
       {AttentionCase{0, 4, 4, 2, 2, 16}, AttentionCase{1, 0, 4, 2, 2, 16}, AttentionCase{1, 4, 0, 2, 1, 16},
        AttentionCase{1, 4, 4, 0, 2, 16}, AttentionCase{1, 4, 4, 2, 2, 0}}) {
    AttentionBwdCall call(sizes, kBFloat16);
    REQUIRE(call.run() == FLASH_REF_OK);
    for (double value : call.dq.values()) CHECK(value == 0);
    for (double value : call.dk.values()) CHECK(value == 0);
    for (double value : call.dv.values()) CHECK(value == 0);
  }
}

TEST_CASE("a NaN reaches the gradients that depend on it and no others") {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const AttentionCase sizes{1, 6, 6, 1, 1, 32, true};
  struct Place {
    const char* tensor;
    std::size_t row;
    // Then NaN are dS, and perhaps P, of these rows for the keys up to last_key.
    std::size_t first_row, last_row, last_key;
    bool in_p;
  };
  for (const TestDtype& dtype : {kFloat16, kBFloat16}) {
    for (const Place& place : {Place{"q", 2, 2, 2, 2, true}, Place{"k", 4, 4, 5, 5, true},
                               Place{"v", 4, 4, 5, 5, false}, Place{"dout", 2, 2, 2, 2, false}}) {
      std::mt19937 random(4);
      AttentionInputs inputs = random_inputs(sizes, dtype, random);
      auto dout = random_values(random, inputs.q.size(), dtype);
      const std::string name = place.tensor;
      std::vector<double>& spoilt = name == "q"   ? inputs.q
                                    : name == "k" ? inputs.k
                                    : name == "v" ? inputs.v
                                                  : dout;
      spoilt[place.row * 32 + 7] = kNan;
      AttentionBwdCall call(sizes, dtype);
      call.fill(inputs, dout);
      REQUIRE(call.run() == FLASH_REF_OK);
      const auto dq = call.dq.values(), dk = call.dk.values(), dv = call.dv.values();
      for (std::size_t i = 0; i < dq.size(); ++i) {
        const std::size_t row = i / 32;
        INFO("NaN in " << name << ", " << dtype.name << ", element " << row << ", " << i % 32);
        CHECK(std::isnan(dq[i]) == (row >= place.first_row && row <= place.last_row));
        CHECK(std::isnan(dk[i]) == (row <= place.last_key));
        CHECK(std::isnan(dv[i]) ==
              (row <= place.last_key && (place.in_p || (name == "dout" && i % 32 == 7))));
      }
    }
  }
}
