// Rotary embedding: the error rule, and bit-exactness wherever no arithmetic happens.
#include "kernels/reference/rotary.h"

#include <cmath>
#include <sstream>

#include "tests/accuracy/random_cases.h"
#include "tests/catch.h"

using namespace flash_ref_test;
using flash_ref::reference::RotaryCase;
using flash_ref::reference::RotaryInputs;

namespace {

struct RotaryCall {
  RotaryCall(const RotaryCase& the_sizes, TestDtype dtype, Layout x_layout = Layout::kCompact,
             Layout table_layout = Layout::kCompact, Layout out_layout = Layout::kCompact)
      : sizes(the_sizes),
        x({sizes.batch, sizes.seq, sizes.heads, sizes.dim}, dtype, x_layout),
        cos({sizes.seq, sizes.pairs}, dtype, table_layout),
        sin({sizes.seq, sizes.pairs}, dtype, table_layout),
        out({sizes.batch, sizes.seq, sizes.heads, sizes.dim}, dtype, out_layout) {}

  void fill(const RotaryInputs& inputs) {
    x.set(inputs.x);
    cos.set(inputs.cos);
    sin.set(inputs.sin);
  }

  int run(DLTensor* target) {
    flash_ref_rotary_options options{};
    options.struct_size = sizeof options;
    options.interleaved = sizes.interleaved ? 1 : 0;
    options.conjugate = sizes.conjugate ? 1 : 0;
    return flash_ref_rotary(&x, &cos, &sin, target, &options);
  }

  RotaryCase sizes;
  TestTensor x, cos, sin, out;
};

RotaryInputs random_inputs(const RotaryCase& sizes, TestDtype dtype, std::mt19937& random) {
  RotaryInputs inputs;
  inputs.x = random_values(
      random, static_cast<std::size_t>(sizes.batch * sizes.seq * sizes.heads * sizes.dim), dtype);
  std::uniform_real_distribution<double> angle(-3.2, 3.2);
  for (std::int64_t i = 0; i < sizes.seq * sizes.pairs; ++i) {
    const double a = angle(random);
    inputs.cos.push_back(round_to(dtype.format, std::cos(a)));
    inputs.sin.push_back(round_to(dtype.format, std::sin(a)));
  }
  return inputs;
}

std::string check_rotary(const RotaryCase& sizes, TestDtype dtype, Layout x, Layout table, Layout out) {
  std::mt19937 random(31);
  const RotaryInputs inputs = random_inputs(sizes, dtype, random);
  RotaryCall call(sizes, dtype, x, table, out);
  call.fill(inputs);
  if (call.run(&call.out) != FLASH_REF_OK) return flash_ref_last_error();
  std::string problem =
      judge(call.out.values(), rotary_fp64(sizes, inputs), rotary_naive(sizes, inputs, dtype.format), dtype);
  if (!call.out.guards_intact()) problem += "a store outside of out; ";
  const auto result = call.out.all_bits();
  RotaryCall in_place(sizes, dtype, x, table, out);
  in_place.fill(inputs);
  if (in_place.run(&in_place.x) != FLASH_REF_OK) return flash_ref_last_error();
  if (in_place.x.all_bits() != result) problem += "in place differs; ";
  if (!in_place.x.guards_intact()) problem += "in place, a store outside of x; ";
  return problem;
}

}  // namespace

TEST_CASE("rotary keeps the error rule, in place and out of place") {
  for (const TestDtype& dtype : {kFloat16, kBFloat16, kFloat32}) {
    for (bool interleaved : {false, true}) {
      for (bool conjugate : {false, true}) {
        for (std::int64_t dim : {32, 64, 80, 128, 256}) {
          for (std::int64_t pairs : {dim / 2, dim / 4, std::int64_t{1}, std::int64_t{0}}) {
            const RotaryCase sizes{2, 7, 3, dim, pairs, interleaved, conjugate};
            INFO(dtype.name << " dim " << dim << " pairs " << pairs << " interleaved " << interleaved);
            CHECK(check_rotary(sizes, dtype, Layout::kCompact, Layout::kCompact, Layout::kCompact) == "");
          }
        }
      }
    }
  }
}

TEST_CASE("rotary keeps the error rule for every combination of layouts") {
  for (Layout x : kLayouts) {
    for (Layout table : kLayouts) {
      for (Layout out : kLayouts) {
        for (bool interleaved : {false, true}) {
          INFO(static_cast<int>(x) << static_cast<int>(table) << static_cast<int>(out));
          CHECK(check_rotary({2, 5, 3, 37, 16, interleaved}, kBFloat16, x, table, out) == "");
        }
      }
    }
  }
}

TEST_CASE("rotary copies what it does not rotate bit for bit, NaN payloads included") {
  for (const TestDtype& dtype : {kFloat16, kBFloat16, kFloat32}) {
    const RotaryCase sizes{1, 3, 2, 40, 8};
    std::mt19937 random(37);
    RotaryCall call(sizes, dtype);
    call.fill(random_inputs(sizes, dtype, random));
    const std::uint32_t mask = dtype.dlpack.bits == 16 ? 0xffffU : 0xffffffffU;
    for (std::size_t i = 0; i < call.x.size(); ++i) {
      if (i % 40 >= 16) call.x.set_bits(i, static_cast<std::uint32_t>(random()) & mask);
    }
    call.x.set_bits(20, dtype.format.digits == 11  ? 0x7c01U
                        : dtype.format.digits == 8 ? 0x7f81U
                                                   : 0x7f800001U);
    REQUIRE(call.run(&call.out) == FLASH_REF_OK);
    for (std::size_t i = 0; i < call.x.size(); ++i) {
      if (i % 40 >= 16) CHECK(call.out.bits(i) == call.x.bits(i));
    }
  }
}

TEST_CASE("rotary by the angle 0 is the identity, bit for bit") {
  const RotaryCase sizes{1, 4, 2, 64, 32};
  std::mt19937 random(41);
  RotaryInputs inputs = random_inputs(sizes, kFloat16, random);
  inputs.cos.assign(inputs.cos.size(), 1.0);
  inputs.sin.assign(inputs.sin.size(), 0.0);
  RotaryCall call(sizes, kFloat16);
  call.fill(inputs);
  REQUIRE(call.run(&call.out) == FLASH_REF_OK);
  CHECK(call.out.all_bits() == call.x.all_bits());
}

TEST_CASE("rotary keeps NaN and infinity within their pair") {
  const RotaryCase sizes{1, 2, 1, 64, 32};
  for (const TestDtype& dtype : {kFloat16, kBFloat16, kFloat32}) {
    for (double spoilt : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
      std::mt19937 random(43);
      RotaryInputs inputs = random_inputs(sizes, dtype, random);
      inputs.x[64 + 1] = spoilt;
      RotaryCall call(sizes, dtype);
      call.fill(inputs);
      REQUIRE(call.run(&call.out) == FLASH_REF_OK);
      const auto out = call.out.values();
      for (std::size_t i = 0; i < out.size(); ++i) {
        CHECK(std::isfinite(out[i]) == (i != 64 + 1 && i != 64 + 33));
        if (!std::isfinite(out[i])) CHECK(std::isnan(out[i]) == std::isnan(spoilt));
      }
    }
  }
}

TEST_CASE("rotary of random sizes, layouts and options keeps the error rule") {
  Draws draws(20261123);
  for (int i = 0; i < 120; ++i) {
    const std::int64_t dim = draws.from(0, 150);
    const RotaryCase sizes{draws.from(0, 2),       draws.from(0, 12), draws.from(0, 4), dim,
                           draws.from(0, dim / 2), draws.once_in(2),  draws.once_in(2)};
    const TestDtype dtype = draws.floating();
    const Layout x = draws.layout(), table = draws.layout(), out = draws.layout();
    INFO("case " << i << ", " << dtype.name << ", dim " << dim << ", pairs " << sizes.pairs << ", layouts "
                 << static_cast<int>(x) << static_cast<int>(table) << static_cast<int>(out));
    CHECK(check_rotary(sizes, dtype, x, table, out) == "");
  }
}

TEST_CASE("rotary of tensors without elements is fine") {
  for (const RotaryCase& sizes : {RotaryCase{0, 4, 2, 8, 4}, RotaryCase{1, 0, 2, 8, 4},
                                  RotaryCase{1, 4, 0, 8, 4}, RotaryCase{1, 4, 2, 0, 0}}) {
    RotaryCall call(sizes, kFloat32);
    CHECK(call.run(&call.out) == FLASH_REF_OK);
  }
}

TEST_CASE("an offset takes later rows of the tables, for all sequences or for each") {
  for (const TestDtype& dtype : {kFloat16, kBFloat16, kFloat32}) {
    for (bool interleaved : {false, true}) {
      const RotaryCase longer{1, 12, 2, 64, 32, interleaved};
      std::mt19937 random(59);
      const RotaryInputs inputs = random_inputs(longer, dtype, random);
      RotaryCall whole(longer, dtype);
      whole.fill(inputs);
      REQUIRE(whole.run(&whole.out) == FLASH_REF_OK);
      // Rows 3 to 6 and rows 8 to 11, with the tables of all twelve.
      TestTensor x({2, 4, 2, 64}, dtype), out({2, 4, 2, 64}, dtype), offsets({2}, kInt32);
      const std::size_t row = 2 * 64, first[] = {3, 8};
      for (std::size_t b = 0; b < 2; ++b) {
        offsets.set_bits(b, static_cast<std::uint32_t>(first[b]));
        for (std::size_t i = 0; i < 4 * row; ++i) {
          x.set_bits(b * 4 * row + i, whole.x.bits(first[b] * row + i));
        }
      }
      flash_ref_rotary_options options{};
      options.struct_size = sizeof options;
      options.interleaved = interleaved ? 1 : 0;
      options.seqlen_offsets = &offsets;
      REQUIRE(flash_ref_rotary(&x, &whole.cos, &whole.sin, &out, &options) == FLASH_REF_OK);
      for (std::size_t b = 0; b < 2; ++b) {
        for (std::size_t i = 0; i < 4 * row; ++i) {
          REQUIRE(out.bits(b * 4 * row + i) == whole.out.bits(first[b] * row + i));
        }
      }
      options.seqlen_offsets = nullptr;
      options.seqlen_offset = 3;
      REQUIRE(flash_ref_rotary(&x, &whole.cos, &whole.sin, &out, &options) == FLASH_REF_OK);
      for (std::size_t i = 0; i < 4 * row; ++i) REQUIRE(out.bits(i) == whole.out.bits(3 * row + i));
    }
  }
}
