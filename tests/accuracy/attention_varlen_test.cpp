// Sequences of different lengths: each gets the bits that it gets alone, forward and backward, whatever the
// options.
#include <cmath>
#include <limits>

#include "tests/accuracy/varlen_run.h"
#include "tests/catch.h"

using namespace flash_ref_test;

namespace {

void require_alone(const VarlenCase& sizes, TestDtype dtype, std::uint32_t seed,
                   Layout layout = Layout::kCompact) {
  INFO(describe(sizes, dtype) << ", layout " << static_cast<int>(layout));
  VarlenCall call(sizes, dtype, layout);
  call.fill(seed);
  REQUIRE(call.run_forward() == FLASH_REF_OK);
  REQUIRE(call.run_backward() == FLASH_REF_OK);
  CHECK(call.guards_intact());
  for (std::size_t b = 0; b < sizes.q_lengths.size(); ++b) {
    INFO("sequence " << b);
    CHECK(call.differences(b, Layout::kCompact) == "");
    CHECK(call.errors(b) == "");
  }
}

}  // namespace

TEST_CASE("each sequence gets the bits that it gets alone, in every layout") {
  for (const TestDtype& dtype : {kFloat16, kBFloat16}) {
    for (Layout layout : kLayouts) {
      VarlenCase sizes{{5, 0, 200, 1, 70}, {9, 3, 260, 0, 60}};
      sizes.causal = true;
      sizes.window = layout == Layout::kPadded ? 50 : 0;
      sizes.alibi = layout == Layout::kPermuted;
      require_alone(sizes, dtype, 47, layout);
    }
  }
}

TEST_CASE("each sequence has its part of a mask, forward and backward") {
  for (const TestDtype& dtype : {kFloat16, kBFloat16}) {
    for (MaskAs mask : {MaskAs::kTruths, MaskAs::kFloats, MaskAs::kLikeQ}) {
      for (std::int64_t spare : {0, 5}) {
        VarlenCase sizes{{40, 3, 0, 1, 67}, {31, 600, 4, 280, 67}};
        sizes.mask = mask;
        sizes.spare = spare;
        sizes.causal = spare == 0;
        require_alone(sizes, dtype, 53, spare == 0 ? Layout::kCompact : Layout::kScattered);
      }
    }
  }
}

TEST_CASE("a mask of fewer sizes serves all sequences, heads or queries") {
  const VarlenCase sizes{{5, 2}, {9, 14}};
  const auto run = [&](const std::vector<std::int64_t>& shape) {
    VarlenCall call(sizes, kFloat16);
    call.fill(7);
    call.mask = std::make_unique<TestTensor>(shape, kFloat32);
    std::vector<double> numbers(call.mask->size());
    // By key alone, whatever the shape.
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i % 14 % 5) - 2;
    call.mask->set(numbers);
    REQUIRE(call.run_forward() == FLASH_REF_OK);
    REQUIRE(call.run_backward() == FLASH_REF_OK);
    return std::pair(call.out.values(), call.dk.values());
  };
  const auto full = run({2, 4, 5, 14});
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{1, 14},
                                                 {5, 14},
                                                 {1, 1, 1, 14},
                                                 {2, 1, 1, 14},
                                                 {1, 4, 1, 14},
                                                 {1, 1, 5, 14}}) {
    CHECK(run(shape) == full);
  }
}

TEST_CASE("random sequences and options: the bits of each alone") {
  std::mt19937 random(20261121);
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (std::uint32_t i = 0; i < 40; ++i) {
    VarlenCase sizes;
    for (std::int64_t count = pick(0, 5); count > 0; --count) {
      sizes.q_lengths.push_back(pick(0, 2) == 0 ? pick(0, 2) : pick(0, 90));
      sizes.k_lengths.push_back(pick(0, 9) == 0 ? pick(500, 1100) : pick(0, 150));
    }
    sizes.kv_heads = pick(1, 3);
    sizes.heads = sizes.kv_heads * pick(1, 4);
    sizes.dim = 8 * pick(4, 20);
    sizes.causal = pick(0, 1) == 1;
    sizes.window = pick(0, 2) == 0 ? pick(1, 80) : 0;
    sizes.softcap = pick(0, 3) == 0 ? 15 : 0;
    sizes.alibi = pick(0, 1) == 1;
    sizes.mask = static_cast<MaskAs>(pick(0, 3));
    sizes.spare = pick(0, 3);
    require_alone(sizes, pick(0, 1) == 0 ? kFloat16 : kBFloat16, i,
                  kLayouts[static_cast<std::size_t>(pick(0, 4))]);
  }
}

TEST_CASE("a NaN in one sequence reaches no other, nor do rows beside a sequence") {
  VarlenCase sizes{{3, 4, 2}, {5, 6, 3}};
  for (const TestDtype& dtype : {kFloat16, kBFloat16}) {
    VarlenCall call(sizes, dtype);
    call.fill(11);
    std::vector<double> keys = call.k.values(), values = call.v.values(), douts = call.dout.values();
    const std::size_t row = 2 * 40;
    for (std::size_t i = 5 * row; i < 11 * row; ++i) {
      keys[i] = std::numeric_limits<double>::quiet_NaN();
      values[i] = std::numeric_limits<double>::infinity();
    }
    call.k.set(keys);
    call.v.set(values);
    REQUIRE(call.run_forward() == FLASH_REF_OK);
    REQUIRE(call.run_backward() == FLASH_REF_OK);
    for (std::size_t b : {0U, 2U}) CHECK(call.differences(b, Layout::kCompact) == "");
    const auto out = call.out.values(), dk = call.dk.values();
    for (std::size_t i = 0; i < out.size(); ++i) CHECK(std::isnan(out[i]) == (i / 160 >= 3 && i / 160 < 7));
    for (std::size_t i = 0; i < dk.size(); ++i) CHECK(std::isnan(dk[i]) == (i / row >= 5 && i / row < 11));
  }
}

TEST_CASE("wrong offsets are refused before anything is written", "[cpu]") {
  const VarlenCase sizes{{3, 4}, {5, 6}, 2, 2, 16};
  VarlenCall call(sizes, kFloat16);
  call.fill(48);
  const auto refused = [&](TestTensor& offsets, std::size_t index, std::uint32_t bits, const char* message) {
    const std::uint32_t before = offsets.bits(index);
    const auto memory = call.out.memory(), gradient = call.dk.memory();
    offsets.set_bits(index, bits);
    CHECK(call.run_forward() == FLASH_REF_BAD_VALUE);
    CHECK(flash_ref_last_error() == std::string("flash_ref_attention_varlen_fwd: ") + message);
    CHECK(call.run_backward() == FLASH_REF_BAD_VALUE);
    CHECK(flash_ref_last_error() == std::string("flash_ref_attention_varlen_bwd: ") + message);
    CHECK(call.out.memory() == memory);
    CHECK(call.dk.memory() == gradient);
    offsets.set_bits(index, before);
  };
  refused(call.cu_q, 0, 1, "cu_seqlens_q[0] is 1; expected 0");
  refused(call.cu_q, 1, 0xffffffffU, "cu_seqlens_q[1] is -1; expected at least the element before it, 0");
  refused(call.cu_q, 1, 9, "cu_seqlens_q[2] is 7; expected at least the element before it, 9");
  refused(call.cu_k, 2, 12, "cu_seqlens_k[2] is 12; expected total_k, which is 11");
  CHECK(call.run_forward() == FLASH_REF_OK);
}
