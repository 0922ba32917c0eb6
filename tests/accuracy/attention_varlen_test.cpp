// Sequences of different lengths: the same bits as one call per sequence, whatever the options.
#include <cmath>

#include "tests/accuracy/attention_run.h"
#include "tests/catch.h"

using namespace flash_ref_test;
using flash_ref::reference::AttentionCase;

namespace {

std::vector<double> offsets_of(const std::vector<std::int64_t>& lengths) {
  std::vector<double> offsets = {0};
  for (std::int64_t length : lengths) offsets.push_back(offsets.back() + static_cast<double>(length));
  return offsets;
}

// (1, seq, heads, dim), and its numbers as rows of a longer tensor.
std::vector<double> slice(const std::vector<double>& all, double first, std::int64_t rows, std::int64_t row) {
  const auto from = all.begin() + static_cast<std::ptrdiff_t>(first) * row;
  return {from, from + rows * row};
}

struct VarlenCall {
  std::int64_t heads = 4, kv_heads = 2, dim = 40;
  std::vector<std::int64_t> q_lengths, k_lengths;
  TestDtype dtype;
  Layout layout = Layout::kCompact;
  std::vector<double> q_offsets = offsets_of(q_lengths), k_offsets = offsets_of(k_lengths);
  std::int64_t total_q = static_cast<std::int64_t>(q_offsets.back()),
               total_k = static_cast<std::int64_t>(k_offsets.back());
  TestTensor q{{total_q, heads, dim}, dtype, layout}, k{{total_k, kv_heads, dim}, dtype, layout},
      v{{total_k, kv_heads, dim}, dtype, layout}, out{{total_q, heads, dim}, dtype, layout},
      lse{{heads, total_q}, kFloat32, layout}, cu_q{{static_cast<std::int64_t>(q_offsets.size())}, kInt32},
      cu_k{{static_cast<std::int64_t>(k_offsets.size())}, kInt32};

  void fill(std::mt19937& random) {
    q.set(random_values(random, q.size(), dtype));
    k.set(random_values(random, k.size(), dtype));
    v.set(random_values(random, v.size(), dtype));
    for (std::size_t i = 0; i < q_offsets.size(); ++i) {
      cu_q.set_bits(i, static_cast<std::uint32_t>(q_offsets[i]));
      cu_k.set_bits(i, static_cast<std::uint32_t>(k_offsets[i]));
    }
  }

  int run(const flash_ref_attention_options& options) {
    return flash_ref_attention_varlen_fwd(&q, &k, &v, &cu_q, &cu_k, &out, &lse, &options);
  }

  void require_sequence(std::size_t b, const flash_ref_attention_options& options) {
    AttentionCall one({1, q_lengths[b], k_lengths[b], heads, kv_heads, dim}, dtype);
    one.fill({slice(q.values(), q_offsets[b], q_lengths[b], heads * dim),
              slice(k.values(), k_offsets[b], k_lengths[b], kv_heads * dim),
              slice(v.values(), k_offsets[b], k_lengths[b], kv_heads * dim)});
    REQUIRE(one.run(options) == FLASH_REF_OK);
    CHECK(one.out.values() == slice(out.values(), q_offsets[b], q_lengths[b], heads * dim));
    const auto expected = one.lse.values(), actual = lse.values();
    for (std::int64_t head = 0; head < heads; ++head) {
      for (std::int64_t i = 0; i < q_lengths[b]; ++i) {
        const auto row =
            static_cast<std::size_t>(head * total_q + i) + static_cast<std::size_t>(q_offsets[b]);
        CHECK(actual[row] == expected[static_cast<std::size_t>(head * q_lengths[b] + i)]);
      }
    }
  }
};

}  // namespace

TEST_CASE("each sequence gets the bits that it gets alone") {
  for (const TestDtype& dtype : {kFloat16, kBFloat16}) {
    for (Layout layout : kLayouts) {
      VarlenCall call{4, 2, 40, {5, 0, 200, 1, 70}, {9, 3, 260, 0, 60}, dtype, layout};
      std::mt19937 random(47);
      call.fill(random);
      flash_ref_attention_options options{};
      options.struct_size = sizeof options;
      options.causal = 1;
      options.window = layout == Layout::kPadded ? 50 : 0;
      REQUIRE(call.run(options) == FLASH_REF_OK);
      CHECK(call.out.guards_intact());
      CHECK(call.lse.guards_intact());
      for (std::size_t b = 0; b < 5; ++b) call.require_sequence(b, options);
    }
  }
}

TEST_CASE("wrong offsets are refused before anything is written", "[cpu]") {
  VarlenCall call{2, 2, 16, {3, 4}, {5, 6}, kFloat16};
  std::mt19937 random(48);
  call.fill(random);
  flash_ref_attention_options options{};
  const auto refused = [&](TestTensor& offsets, std::size_t index, std::uint32_t bits, const char* message) {
    const std::uint32_t before = offsets.bits(index);
    const auto memory = call.out.memory();
    offsets.set_bits(index, bits);
    CHECK(call.run(options) == FLASH_REF_BAD_VALUE);
    CHECK(flash_ref_last_error() == std::string("flash_ref_attention_varlen_fwd: ") + message);
    CHECK(call.out.memory() == memory);
    offsets.set_bits(index, before);
  };
  refused(call.cu_q, 0, 1, "cu_seqlens_q[0] is 1; expected 0");
  refused(call.cu_q, 1, 0xffffffffU, "cu_seqlens_q[1] is -1; expected at least the element before it, 0");
  refused(call.cu_q, 1, 9, "cu_seqlens_q[2] is 7; expected at least the element before it, 9");
  refused(call.cu_k, 2, 12, "cu_seqlens_k[2] is 12; expected total_k, which is 11");
  CHECK(call.run(options) == FLASH_REF_OK);
}
