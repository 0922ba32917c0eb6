// The gradients of RWKV-7 against fp64, the oracle of them against difference quotients.
#include "kernels/reference/rwkv7_bwd.h"

#include <cmath>
#include <limits>
#include <memory>

#include "tests/accuracy/random_cases.h"
#include "tests/accuracy/rwkv7_run.h"
#include "tests/catch.h"

using namespace flash_ref_test;
using flash_ref::reference::Rwkv7Case;
using flash_ref::reference::Rwkv7Gradients;
using flash_ref::reference::Rwkv7Inputs;

namespace {

struct Rwkv7BwdCall {
  Rwkv7BwdCall(const Rwkv7Case& the_sizes, TestDtype dtype, Layout layout = Layout::kCompact)
      : sizes(the_sizes),
        shape{sizes.batch, sizes.seq, sizes.heads, sizes.dim},
        states{sizes.batch, sizes.heads, sizes.dim, sizes.dim} {
    for (auto& tensor : inputs) tensor = std::make_unique<TestTensor>(shape, dtype, layout);
    for (auto& tensor : gradients) tensor = std::make_unique<TestTensor>(shape, dtype, layout);
    dout = std::make_unique<TestTensor>(shape, dtype, layout);
    initial = std::make_unique<TestTensor>(states, kFloat32, layout);
    dfinal = std::make_unique<TestTensor>(states, kFloat32, layout);
    dinitial = std::make_unique<TestTensor>(states, kFloat32, layout);
  }

  void fill(const Rwkv7Inputs& values, const std::vector<double>& dout_values,
            const std::vector<double>& dfinal_values) {
    const std::vector<double>* all[] = {&values.r, &values.w, &values.k, &values.v, &values.a, &values.b};
    for (std::size_t i = 0; i < 6; ++i) inputs[i]->set(*all[i]);
    dout->set(dout_values);
    has_state = !values.state.empty();
    if (!has_state) return;
    initial->set(values.state);
    dfinal->set(dfinal_values);
  }

  int run() {
    flash_ref_rwkv7_options options{};
    options.struct_size = sizeof options;
    options.scale = static_cast<float>(sizes.scale);
    DLTensor* dstate = (overwrites_dfinal ? dfinal : dinitial)->operator&();
    if (!has_state) dstate = nullptr;
    const auto in = [&](std::size_t i) { return inputs[i]->descriptor(); };
    const auto to = [&](std::size_t i) { return gradients[i]->operator&(); };
    const auto workspace = device_workspace(options, [&](std::size_t* bytes) {
      return flash_ref_rwkv7_bwd_workspace(in(0), in(1), in(2), in(3), in(4), in(5), &options, bytes);
    });
    return flash_ref_rwkv7_bwd(in(0), in(1), in(2), in(3), in(4), in(5),
                               has_state ? initial->descriptor() : nullptr, dout->descriptor(),
                               has_state ? dfinal->descriptor() : nullptr, to(0), to(1), to(2), to(3), to(4),
                               to(5), dstate, &options);
  }

  Rwkv7Case sizes;
  std::vector<std::int64_t> shape, states;
  std::unique_ptr<TestTensor> inputs[6], gradients[6], dout, initial, dfinal, dinitial;
  bool has_state = false, overwrites_dfinal = false;
};

constexpr const char* kNames[] = {"dr", "dw", "dk", "dv", "da", "db"};

struct Case {
  Rwkv7Inputs inputs;
  std::vector<double> dout, dfinal;
};

Case random_case(const Rwkv7Case& sizes, TestDtype dtype, bool with_state) {
  Case result{random_rwkv7_inputs(sizes, dtype, with_state, 73), {}, {}};
  std::mt19937 random(79);
  result.dout = random_values(random, result.inputs.r.size(), dtype);
  if (with_state) result.dfinal = random_values(random, result.inputs.state.size(), kFloat32);
  return result;
}

void require_right(const Rwkv7Case& sizes, TestDtype dtype, bool with_state,
                   Layout layout = Layout::kCompact) {
  const Case given = random_case(sizes, dtype, with_state);
  Rwkv7BwdCall call(sizes, dtype, layout);
  call.fill(given.inputs, given.dout, given.dfinal);
  const int status = call.run();
  INFO(flash_ref_last_error());
  REQUIRE(status == FLASH_REF_OK);
  const Rwkv7Gradients exact = rwkv7_bwd_fp64(sizes, given.inputs, given.dout, given.dfinal);
  const std::vector<double>* all[] = {&exact.dr, &exact.dw, &exact.dk, &exact.dv, &exact.da, &exact.db};
  for (std::size_t i = 0; i < 6; ++i) {
    INFO(kNames[i] << ", " << dtype.name << ", seq " << sizes.seq << ", dim " << sizes.dim << ", state "
                   << with_state);
    CHECK(rms_ratio(call.gradients[i]->values(), *all[i]) <= rwkv7_bound(*all[i], dtype));
    CHECK(call.gradients[i]->guards_intact());
  }
  if (with_state) CHECK(rms_ratio(call.dinitial->values(), exact.dstate) <= 1e-5);
  CHECK(call.dinitial->guards_intact());
}

double loss(const Rwkv7Case& sizes, const Case& given) {
  const auto result = rwkv7_fp64(sizes, given.inputs);
  double sum = 0;
  for (std::size_t i = 0; i < result.out.size(); ++i) sum += result.out[i] * given.dout[i];
  for (std::size_t i = 0; i < given.dfinal.size(); ++i) sum += result.state[i] * given.dfinal[i];
  return sum;
}

}  // namespace

TEST_CASE("the oracle of rwkv7's gradients is the derivative of its forward oracle") {
  const Rwkv7Case sizes{2, 4, 2, 3, 0.7};
  Case given = random_case(sizes, kFloat32, true);
  const Rwkv7Gradients exact = rwkv7_bwd_fp64(sizes, given.inputs, given.dout, given.dfinal);
  const auto require = [&](std::vector<double>& input, const std::vector<double>& gradient) {
    constexpr double kStep = 1e-5;
    REQUIRE(input.size() == gradient.size());
    for (std::size_t i = 0; i < input.size(); ++i) {
      const double at = input[i];
      input[i] = at + kStep;
      const double above = loss(sizes, given);
      input[i] = at - kStep;
      const double below = loss(sizes, given);
      input[i] = at;
      CHECK(gradient[i] == Approx((above - below) / (2 * kStep)).margin(1e-8));
    }
  };
  require(given.inputs.r, exact.dr);
  require(given.inputs.w, exact.dw);
  require(given.inputs.k, exact.dk);
  require(given.inputs.v, exact.dv);
  require(given.inputs.a, exact.da);
  require(given.inputs.b, exact.db);
  require(given.inputs.state, exact.dstate);
}

TEST_CASE("rwkv7 backward is right to 2e-3 or one rounding of each gradient") {
  for (const TestDtype& dtype : {kFloat16, kBFloat16, kFloat32}) {
    for (std::int64_t dim : {1, 7, 16, 64, 65}) {
      for (std::int64_t seq : {1, 16, 37}) {
        for (bool with_state : {false, true}) {
          if (seq == 1 && !with_state) continue;  // dw, da and db are exactly 0, as a test below says
          require_right({2, seq, 2, dim}, dtype, with_state);
        }
      }
    }
    require_right({1, 200, 2, 64, 0.125}, dtype, true);
  }
}

TEST_CASE("rwkv7 backward takes every layout") {
  for (Layout layout : kLayouts) require_right({2, 19, 3, 24}, kBFloat16, true, layout);
}

TEST_CASE("rwkv7 backward of random sizes and layouts is right") {
  Draws draws(20261125);
  for (int i = 0; i < 40; ++i) {
    const Rwkv7Case sizes{draws.from(0, 2), draws.from(2, 40), draws.from(0, 3), draws.from(4, 80)};
    INFO("case " << i);
    require_right(sizes, draws.floating(), draws.once_in(2), draws.layout());
  }
}

TEST_CASE("without a state before it, one position has no gradient of w, a and b") {
  const Rwkv7Case sizes{1, 1, 2, 16};
  const Case given = random_case(sizes, kFloat16, false);
  Rwkv7BwdCall call(sizes, kFloat16);
  call.fill(given.inputs, given.dout, {});
  REQUIRE(call.run() == FLASH_REF_OK);
  for (std::size_t i : {1, 4, 5}) {
    for (double value : call.gradients[i]->values()) CHECK(value == 0);
  }
}

TEST_CASE("rwkv7 backward without positions hands the state's gradient back, in place too") {
  const Rwkv7Case sizes{1, 0, 2, 16};
  Rwkv7BwdCall call(sizes, kFloat16);
  std::mt19937 random(61);
  call.dfinal->set(random_values(random, call.dfinal->size(), kFloat32));
  call.has_state = true;
  REQUIRE(call.run() == FLASH_REF_OK);
  CHECK(call.dinitial->all_bits() == call.dfinal->all_bits());

  const Rwkv7Case some{1, 20, 2, 16};
  const Case given = random_case(some, kBFloat16, true);
  Rwkv7BwdCall apart(some, kBFloat16), in_place(some, kBFloat16);
  apart.fill(given.inputs, given.dout, given.dfinal);
  in_place.fill(given.inputs, given.dout, given.dfinal);
  in_place.overwrites_dfinal = true;
  REQUIRE(apart.run() == FLASH_REF_OK);
  REQUIRE(in_place.run() == FLASH_REF_OK);
  CHECK(in_place.dfinal->all_bits() == apart.dinitial->all_bits());
}

TEST_CASE(
    "rwkv7 backward: a NaN in dout reaches the positions before it and its own dr, not the ones behind") {
  const Rwkv7Case sizes{1, 20, 2, 16};
  Case given = random_case(sizes, kBFloat16, false);
  given.dout[(9 * 2 + 1) * 16 + 3] = std::numeric_limits<double>::quiet_NaN();  // position 9, head 1
  Rwkv7BwdCall call(sizes, kBFloat16);
  call.fill(given.inputs, given.dout, {});
  REQUIRE(call.run() == FLASH_REF_OK);
  const auto dr = call.gradients[0]->values(), dk = call.gradients[2]->values();
  for (std::size_t i = 0; i < dr.size(); ++i) {
    const std::size_t position = i / 32, head = i / 16 % 2;
    CHECK(std::isnan(dr[i]) == (position == 9 && head == 1));
    CHECK(std::isnan(dk[i]) == (position <= 9 && head == 1));
  }
}

TEST_CASE("rwkv7 backward refuses a positive log decay and shared memory before anything is written",
          "[cpu]") {
  const Rwkv7Case sizes{1, 3, 2, 8};
  Case given = random_case(sizes, kFloat16, true);
  given.inputs.w[2 * 16 + 8 + 3] = 0.5;
  Rwkv7BwdCall call(sizes, kFloat16);
  call.fill(given.inputs, given.dout, given.dfinal);
  const auto before = call.gradients[1]->memory();
  CHECK(call.run() == FLASH_REF_BAD_VALUE);
  CHECK(std::string(flash_ref_last_error()).rfind("flash_ref_rwkv7_bwd: w(0, 2, 1, 3) is positive", 0) == 0);
  CHECK(call.gradients[1]->memory() == before);
  call.inputs[1]->set_bits(2 * 16 + 8 + 3, 0);
  CHECK(call.run() == FLASH_REF_OK);
  const auto shared = call.gradients[1]->memory();
  call.dout.swap(call.gradients[4]);
  call.gradients[4]->operator&()->data = call.gradients[2]->descriptor()->data;
  CHECK(call.run() == FLASH_REF_BAD_LAYOUT);
  CHECK(flash_ref_last_error() == std::string("flash_ref_rwkv7_bwd: da shares memory with dk"));
  CHECK(call.gradients[1]->memory() == shared);
}
