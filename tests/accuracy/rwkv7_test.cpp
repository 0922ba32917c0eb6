// RWKV-7 against fp64: root mean square of the error over that of the result at most 2e-3, states as well.
#include "kernels/reference/rwkv7.h"

#include <cmath>

#include "tests/accuracy/random_cases.h"
#include "tests/accuracy/rwkv7_run.h"
#include "tests/catch.h"

using namespace flash_ref_test;
using flash_ref::reference::Rwkv7Case;
using flash_ref::reference::Rwkv7Inputs;

namespace {

struct Rwkv7Call {
  Rwkv7Call(const Rwkv7Case& the_sizes, TestDtype dtype, Layout layout = Layout::kCompact)
      : sizes(the_sizes),
        shape{sizes.batch, sizes.seq, sizes.heads, sizes.dim},
        states{sizes.batch, sizes.heads, sizes.dim, sizes.dim},
        r(shape, dtype, layout),
        w(shape, dtype, layout),
        k(shape, dtype, layout),
        v(shape, dtype, layout),
        a(shape, dtype, layout),
        b(shape, dtype, layout),
        out(shape, dtype, layout),
        initial(states, kFloat32, layout),
        final(states, kFloat32, layout) {}

  void fill(const Rwkv7Inputs& inputs) {
    r.set(inputs.r), w.set(inputs.w), k.set(inputs.k), v.set(inputs.v), a.set(inputs.a), b.set(inputs.b);
    has_state = !inputs.state.empty();
    if (has_state) initial.set(inputs.state);
  }

  int run() {
    flash_ref_rwkv7_options options{};
    options.struct_size = sizeof options;
    options.scale = static_cast<float>(sizes.scale);
    return flash_ref_rwkv7_fwd(&r, &w, &k, &v, &a, &b, has_state ? &initial : nullptr, &out, &final,
                               &options);
  }

  Rwkv7Case sizes;
  std::vector<std::int64_t> shape, states;
  TestTensor r, w, k, v, a, b, out, initial, final;
  bool has_state = false;
};

void require_right(const Rwkv7Case& sizes, TestDtype dtype, bool with_state,
                   Layout layout = Layout::kCompact) {
  INFO(dtype.name << " seq " << sizes.seq << " heads " << sizes.heads << " dim " << sizes.dim << " state "
                  << with_state);
  const Rwkv7Inputs inputs = random_rwkv7_inputs(sizes, dtype, with_state, 53);
  Rwkv7Call call(sizes, dtype, layout);
  call.fill(inputs);
  const int status = call.run();
  INFO(flash_ref_last_error());
  REQUIRE(status == FLASH_REF_OK);
  const auto exact = rwkv7_fp64(sizes, inputs);
  CHECK(rms_ratio(call.out.values(), exact.out) <= rwkv7_bound(exact.out, dtype));
  CHECK(rms_ratio(call.final.values(), exact.state) <= 1e-5);
  CHECK(call.out.guards_intact());
  CHECK(call.final.guards_intact());
}

}  // namespace

TEST_CASE("rwkv7 is right to 2e-3 or one rounding of the output, and its state to 1e-5") {
  for (const TestDtype& dtype : {kFloat16, kBFloat16, kFloat32}) {
    for (std::int64_t dim : {1, 7, 16, 64, 65, 128}) {
      for (bool with_state : {false, true}) require_right({2, 20, 2, dim}, dtype, with_state);
    }
    require_right({1, 400, 2, 64, 0.125}, dtype, true);
  }
}

TEST_CASE("rwkv7 takes every layout") {
  for (Layout layout : kLayouts) require_right({2, 9, 3, 24}, kBFloat16, true, layout);
}

TEST_CASE("rwkv7 of random sizes and layouts is right") {
  Draws draws(20261124);
  for (int i = 0; i < 60; ++i) {
    const Rwkv7Case sizes{draws.from(0, 2), draws.from(0, 40), draws.from(0, 3), draws.from(4, 80)};
    INFO("case " << i);
    require_right(sizes, draws.floating(), draws.once_in(2), draws.layout());
  }
}

TEST_CASE("a NaN or infinity in v reaches its row from its position on, and nothing else") {
  for (double spoilt : {std::nan(""), HUGE_VAL}) {
    const Rwkv7Case sizes{1, 20, 2, 16};
    Rwkv7Inputs inputs = random_rwkv7_inputs(sizes, kBFloat16, true, 7);
    inputs.v[(9 * 2 + 1) * 16 + 3] = spoilt;  // position 9, head 1, row 3
    Rwkv7Call call(sizes, kBFloat16);
    call.fill(inputs);
    REQUIRE(call.run() == FLASH_REF_OK);
    const auto out = call.out.values(), state = call.final.values();
    for (std::size_t i = 0; i < out.size(); ++i)
      CHECK(std::isfinite(out[i]) == !(i / 32 >= 9 && i / 16 % 2 == 1 && i % 16 == 3));
    for (std::size_t i = 0; i < state.size(); ++i) CHECK(std::isfinite(state[i]) == !(i / 16 == 16 + 3));
  }
}

TEST_CASE("every NaN in w reaches what follows", "[cpu]") {
  const Rwkv7Case sizes{1, 3, 1, 16};
  for (const std::uint32_t nan : {0x7fc00000U, 0x7fc00001U, 0x7fffffffU, 0xffffffffU, 0x7fc001ffU}) {
    Rwkv7Call call(sizes, kFloat32);
    call.fill(random_rwkv7_inputs(sizes, kFloat32, true, 9));
    call.w.set_bits(16 + 3, nan);
    REQUIRE(call.run() == FLASH_REF_OK);
    const auto out = call.out.values();
    for (std::size_t i = 0; i < out.size(); ++i) CHECK(std::isnan(out[i]) == (i >= 16));
  }
}

TEST_CASE("rwkv7 in two halves with the state between them gives the bits of one call") {
  const Rwkv7Case sizes{1, 10, 2, 32};
  const Rwkv7Inputs inputs = random_rwkv7_inputs(sizes, kFloat16, false, 59);
  Rwkv7Call whole(sizes, kFloat16);
  whole.fill(inputs);
  REQUIRE(whole.run() == FLASH_REF_OK);
  const auto part = [&](const std::vector<double>& all, std::ptrdiff_t half) {
    return std::vector<double>(all.begin() + half * 5 * 64, all.begin() + (half + 1) * 5 * 64);
  };
  std::vector<double> state, out;
  for (std::ptrdiff_t half : {0, 1}) {
    Rwkv7Call call({1, 5, 2, 32}, kFloat16);
    call.fill({part(inputs.r, half), part(inputs.w, half), part(inputs.k, half), part(inputs.v, half),
               part(inputs.a, half), part(inputs.b, half), state});
    REQUIRE(call.run() == FLASH_REF_OK);
    state = call.final.values();
    for (double value : call.out.values()) out.push_back(value);
  }
  CHECK(out == whole.out.values());
  CHECK(state == whole.final.values());
}

TEST_CASE("rwkv7 without steps hands the state on") {
  Rwkv7Call call({1, 0, 2, 16}, kFloat16);
  std::mt19937 random(61);
  call.initial.set(random_values(random, call.initial.size(), kFloat32));
  call.has_state = true;
  REQUIRE(call.run() == FLASH_REF_OK);
  CHECK(call.final.all_bits() == call.initial.all_bits());
}

TEST_CASE("rwkv7 refuses a positive log decay before anything is written", "[cpu]") {
  for (const TestDtype& dtype : {kFloat16, kBFloat16, kFloat32}) {
    const Rwkv7Case sizes{1, 3, 2, 8};
    Rwkv7Inputs inputs = random_rwkv7_inputs(sizes, dtype, false, 67);
    inputs.w[2 * 16 + 8 + 3] = 0.5;
    Rwkv7Call call(sizes, dtype);
    call.fill(inputs);
    const auto before = call.out.memory();
    CHECK(call.run() == FLASH_REF_BAD_VALUE);
    CHECK(flash_ref_last_error() ==
          std::string(
              "flash_ref_rwkv7_fwd: w(0, 2, 1, 3) is positive; expected the logarithm of a decay, at most 0, "
              "such as -exp(-0.5) * sigmoid(x) for a pre-activation x"));
    CHECK(call.out.memory() == before);
    call.w.set_bits(2 * 16 + 8 + 3, 0);
    CHECK(call.run() == FLASH_REF_OK);
  }
}
