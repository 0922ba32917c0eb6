// What may share memory with what: outputs with nothing, to the byte, and the workspace neither.
#include <algorithm>
#include <cstring>
#include <random>
#include <set>

#include "tests/catch.h"
#include "tests/unit/kernels/backward_calls.h"
#include "tests/unit/kernels/kvcache_calls.h"

using namespace flash_ref_test;

namespace {

constexpr std::size_t kBytes = 4096;

// A tensor somewhere in a buffer, none of whose elements share a byte: dimensions nested in random order,
// with gaps, some of them backward.
struct Placed {
  std::int64_t sizes[4], strides[4];
  DLTensor tensor{};

  Placed(std::mt19937& random, const std::int64_t (&shape)[4], TestDtype dtype, std::uint8_t* buffer) {
    const auto below = [&](std::int64_t limit) {
      return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
    };
    int order[4] = {0, 1, 2, 3};
    std::shuffle(order, order + 4, random);
    std::int64_t step = 1 + below(3), lowest = 0, highest = 0;
    for (const int i : order) {
      sizes[i] = shape[i];
      strides[i] = below(3) == 0 ? -step : step;
      (strides[i] < 0 ? lowest : highest) += strides[i] * (sizes[i] - 1);
      step = step * sizes[i] + below(2) * below(4);
    }
    const std::int64_t bytes = dtype.dlpack.bits / 8;
    const std::int64_t room = static_cast<std::int64_t>(kBytes) / bytes - (highest - lowest);
    tensor.data = buffer + (below(std::min<std::int64_t>(room, 120)) - lowest) * bytes;
    tensor.device = {static_cast<decltype(tensor.device.device_type)>(kDevice), 0};
    tensor.ndim = 4;
    tensor.dtype = dtype.dlpack;
    tensor.shape = sizes;
    tensor.strides = strides;
  }

  std::set<std::uintptr_t> bytes() const {
    std::set<std::uintptr_t> all;
    const std::int64_t width = tensor.dtype.bits / 8;
    for (std::int64_t i = 0; i < sizes[0] * sizes[1] * sizes[2] * sizes[3]; ++i) {
      std::int64_t rest = i, offset = 0;
      for (int d = 3; d >= 0; --d) {
        offset += rest % sizes[d] * strides[d];
        rest /= sizes[d];
      }
      for (std::int64_t b = 0; b < width; ++b)
        all.insert(reinterpret_cast<std::uintptr_t>(tensor.data) +
                   static_cast<std::uintptr_t>(offset * width + b));
    }
    return all;
  }

  // Strides of dimensions of size 1 say nothing.
  bool is(const Placed& other) const {
    bool same = tensor.data == other.tensor.data;
    for (int i = 0; i < 4; ++i) same = same && (sizes[i] == 1 || strides[i] == other.strides[i]);
    return same;
  }

  bool shares_memory_with(const Placed& other) const {
    const auto mine = bytes(), its = other.bytes();
    return std::any_of(mine.begin(), mine.end(), [&](std::uintptr_t byte) { return its.count(byte) != 0; });
  }
};

DLTensor part_of(const DLTensor& packed, std::int64_t element, std::int64_t* strides) {
  DLTensor part = packed;
  part.data = static_cast<char*>(packed.data) + element * packed.dtype.bits / 8;
  part.strides = strides;
  return part;
}

}  // namespace

TEST_CASE("an output shares memory with an input exactly where they have a byte in common") {
  std::mt19937 random(20);
  alignas(64) std::uint8_t buffer[kBytes] = {};
  int shared = 0, apart = 0;
  for (int round = 0; round < 3000; ++round) {
    const std::int64_t shape[4] = {1 + round % 2, 1 + round % 3, 1 + round / 7 % 3, 1 + round / 3 % 5};
    const TestDtype dtype = round % 5 == 0 ? kFloat32 : kBFloat16;
    TestTensor table({3, 0}, dtype);  // rotates nothing
    Placed x(random, shape, dtype, buffer), out(random, shape, dtype, buffer);
    const bool meet = !x.is(out) && x.shares_memory_with(out);
    const int status = flash_ref_rotary(&x.tensor, &table, &table, &out.tensor, nullptr);
    CAPTURE(round, meet, std::string(flash_ref_last_error()));
    REQUIRE(status == (meet ? FLASH_REF_BAD_LAYOUT : FLASH_REF_OK));
    ++(meet ? shared : apart);
  }
  CHECK(shared > 500);
  CHECK(apart > 500);
}

TEST_CASE("attention: views of one packed buffer") {
  TestTensor packed({1, 6, 3, 2, 16}, kFloat16);
  std::int64_t sizes[4] = {1, 5, 2, 16}, strides[4] = {576, 96, 16, 1};
  DLTensor whole = packed.tensor();
  whole.ndim = 4;
  whole.shape = sizes;
  const DLTensor q = part_of(whole, 0, strides), k = part_of(whole, 32, strides);
  SECTION("out takes the place of v") {
    DLTensor out = part_of(whole, 64, strides);
    CHECK(flash_ref_attention_fwd(&q, &k, &k, &out, nullptr, nullptr) == FLASH_REF_OK);
  }
  SECTION("out is q, one token later") {
    DLTensor out = part_of(whole, 96, strides);
    CHECK(flash_ref_attention_fwd(&q, &k, &k, &out, nullptr, nullptr) == FLASH_REF_BAD_LAYOUT);
    CHECK(flash_ref_last_error() == std::string("flash_ref_attention_fwd: out shares memory with q"));
  }
  SECTION("out ends in the next token's k") {
    DLTensor out = part_of(whole, 64 + 31, strides);
    CHECK(flash_ref_attention_fwd(&q, &k, &k, &out, nullptr, nullptr) == FLASH_REF_BAD_LAYOUT);
  }
  CHECK(packed.guards_intact());
}

TEST_CASE("an output shares memory with no tensor of the options, no offsets and no state") {
  const int bad = FLASH_REF_BAD_LAYOUT;
  SECTION("kvcache: out over ALiBi's slopes") {
    KvCacheArguments a;
    TestTensor own({4}, kFloat32);
    DLTensor slopes = own.tensor();
    slopes.data = a.named("out").data;
    a.options.alibi_slopes = &slopes;
    REQUIRE_ERROR(a.call(), bad, "flash_ref_attention_kvcache: out shares memory with options.alibi_slopes");
  }
  SECTION("rotary: out over the offsets") {
    RotaryArguments a;
    TestTensor offsets({2}, kInt32);
    DLTensor over = offsets.tensor();
    std::memset(a.out.data, 0, 8);
    over.data = a.out.data;
    a.options.seqlen_offsets = &over;
    REQUIRE_ERROR(a.call(), bad, "flash_ref_rotary: out shares memory with options.seqlen_offsets");
  }
  SECTION("varlen: out over the offsets") {
    VarlenFwdArguments a;
    a.named("out").data = static_cast<char*>(a.named("cu_seqlens_q").data) + 4;
    REQUIRE_ERROR(a.call(), bad, "flash_ref_attention_varlen_fwd: out shares memory with cu_seqlens_q");
  }
  SECTION("RWKV-7: out over the state, a workspace over it") {
    Rwkv7FwdArguments a;
    a.named("out").data = a.named("initial_state").data;
    REQUIRE_ERROR(a.call(), bad, "flash_ref_rwkv7_fwd: out shares memory with initial_state");
    Rwkv7BwdArguments b;
    b.options.workspace = b.named("initial_state").data;
    b.options.workspace_bytes = 1;
    REQUIRE_ERROR(b.call(), FLASH_REF_BAD_WORKSPACE,
                  "flash_ref_rwkv7_bwd: options.workspace shares memory with initial_state");
  }
}

TEST_CASE("RWKV-7: dim and a positive w whose elements lie apart") {
  Rwkv7FwdArguments a;
  std::int64_t wide[4] = {2, 5, 3, 4097};
  for (const char* role : {"r", "w", "k", "v", "a", "b"}) a.named(role).shape = wide;
  REQUIRE_ERROR(a.call(), FLASH_REF_BAD_SHAPE,
                "flash_ref_rwkv7_fwd: r has shape (2, 5, 3, 4097); dim can be 4096 at most");
  Rwkv7FwdArguments b;
  TestTensor w({2, 5, 3, 8}, kBFloat16, Layout::kScattered);
  std::vector<double> decays(2 * 5 * 3 * 8, -0.5);
  decays.back() = 0.25;
  w.set(decays);
  b.named("w") = w.tensor();
  const Outcome outcome = b.call();
  CHECK(outcome.status == FLASH_REF_BAD_VALUE);
  CHECK(outcome.message.rfind("flash_ref_rwkv7_fwd: w(1, 4, 2, 7) is positive", 0) == 0);
}

TEST_CASE("a workspace shares memory with no tensor of the call") {
  const int bad = FLASH_REF_BAD_WORKSPACE;
  const auto over = [](auto& options, const DLTensor& tensor) {
    options.workspace = static_cast<char*>(tensor.data) + 4;
    options.workspace_bytes = std::size_t{1} << 20;
  };
  const std::string shares = ": options.workspace shares memory with ";
  SECTION("attention") {
    for (const char* role : {"q", "k", "v", "out", "lse"}) {
      AttentionArguments a;
      over(a.options, a.named(role));
      a.options.workspace_bytes = 1;
      REQUIRE_ERROR(a.call(), bad, "flash_ref_attention_fwd" + shares + role);
    }
  }
  SECTION("ALiBi's slopes") {
    AttentionArguments a;
    TestTensor slopes({4}, kFloat32);
    a.options.alibi_slopes = &slopes;
    over(a.options, slopes.tensor());
    a.options.workspace_bytes = 1;
    REQUIRE_ERROR(a.call(), bad, "flash_ref_attention_fwd" + shares + "options.alibi_slopes");
  }
  SECTION("attention backward") {
    for (const char* role : {"q", "k", "v", "out", "lse", "dout", "dq", "dk", "dv"}) {
      AttentionBwdArguments a;
      over(a.options, a.named(role));
      a.options.workspace_bytes = 1;
      REQUIRE_ERROR(a.call(), bad, "flash_ref_attention_bwd" + shares + role);
    }
  }
  SECTION("RWKV-7 backward") {
    for (const char* role : {"r", "w", "k", "v", "a", "b", "dout", "dr", "dw", "dk", "dv", "da", "db"}) {
      Rwkv7BwdArguments a;
      over(a.options, a.named(role));
      a.options.workspace_bytes = 1;
      REQUIRE_ERROR(a.call(), bad, "flash_ref_rwkv7_bwd" + shares + role);
    }
  }
  SECTION("with a cache") {
    for (const char* role : {"q", "k_cache", "v_cache", "k", "v", "cos", "seqlens_k", "out", "lse"}) {
      KvCacheArguments a;
      over(a.options, a.named(role));
      a.options.workspace_bytes = 1;
      REQUIRE_ERROR(a.call(), bad, "flash_ref_attention_kvcache" + shares + role);
    }
  }
}
