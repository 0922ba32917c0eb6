// Every way to call flash_ref_attention_fwd wrongly, with the whole message.
#include <cmath>
#include <cstring>

#include "tests/catch.h"
#include "tests/unit/kernels/calls.h"

using namespace flash_ref_test;

namespace {

std::string prefixed(const std::string& message) { return "flash_ref_attention_fwd: " + message; }

}  // namespace

TEST_CASE("the arguments that the other tests spoil are right") {
  AttentionArguments arguments;
  const Outcome outcome = arguments.call();
  CHECK(outcome.status == FLASH_REF_OK);
  CHECK(outcome.message == "");
  CHECK(outcome.written);
}

TEST_CASE("attention: NULL arguments") {
  AttentionArguments a;
  const int null = FLASH_REF_NULL_ARGUMENT;
  REQUIRE_ERROR(a.call(nullptr, &a.k, &a.v, &a.out, &a.lse, nullptr), null, prefixed("q is NULL"));
  REQUIRE_ERROR(a.call(&a.q, nullptr, &a.v, &a.out, &a.lse, nullptr), null, prefixed("k is NULL"));
  REQUIRE_ERROR(a.call(&a.q, &a.k, nullptr, &a.out, &a.lse, nullptr), null, prefixed("v is NULL"));
  REQUIRE_ERROR(a.call(&a.q, &a.k, &a.v, nullptr, &a.lse, nullptr), null, prefixed("out is NULL"));
  a.k.data = nullptr;
  REQUIRE_ERROR(a.call(), null, prefixed("k has NULL data and shape (2, 7, 2, 16)"));
  a.v.shape = nullptr;
  a.k = a.k_memory.tensor();
  REQUIRE_ERROR(a.call(), null, prefixed("v has a NULL shape; expected (batch, seq_k, kv_heads, dim)"));
}

TEST_CASE("attention: dtypes") {
  AttentionArguments a;
  SECTION("q") {
    a.q.dtype = {2, 32, 1};
    REQUIRE_ERROR(a.call(), FLASH_REF_BAD_DTYPE,
                  prefixed("q has dtype float32; accepted: float16 or bfloat16"));
  }
  SECTION("k") {
    for (DLTensor* tensor : {&a.q, &a.v, &a.out}) tensor->dtype = {4, 16, 1};
    a.k.dtype = {2, 32, 1};
    REQUIRE_ERROR(a.call(), FLASH_REF_BAD_DTYPE,
                  prefixed("k has dtype float32; accepted: bfloat16 (the dtype of q)"));
  }
  SECTION("v of a type that no dtype has") {
    a.v.dtype = {99, 16, 2};
    REQUIRE_ERROR(
        a.call(), FLASH_REF_BAD_DTYPE,
        prefixed("v has dtype (DLPack code 99, 16 bits, 2 lanes); accepted: float16 (the dtype of q)"));
  }
  SECTION("out") {
    a.out.dtype = {4, 16, 1};
    REQUIRE_ERROR(a.call(), FLASH_REF_BAD_DTYPE,
                  prefixed("out has dtype bfloat16; accepted: float16 (the dtype of q)"));
  }
  SECTION("lse") {
    a.lse.dtype = {2, 64, 1};
    REQUIRE_ERROR(a.call(), FLASH_REF_BAD_DTYPE, prefixed("lse has dtype float64; accepted: float32"));
  }
}

TEST_CASE("attention: devices") {
  AttentionArguments a;
  for (const char* role : {"q", "k", "v", "out", "lse"}) {
    AttentionArguments b;
    b.named(role).device.device_type = static_cast<DLDeviceType>(10);
    REQUIRE_ERROR(
        b.call(), FLASH_REF_BAD_DEVICE,
        prefixed(std::string(role) +
                 " is on device type 10 (ROCm); this library runs on device type 1 (CPU)" + kAndCuda));
  }
}

TEST_CASE("attention: shapes") {
  AttentionArguments a;
  const int bad = FLASH_REF_BAD_SHAPE;
  std::int64_t shape[4] = {2, 7, 2, 16};
  SECTION("number of dimensions") {
    a.q.ndim = 3;
    REQUIRE_ERROR(a.call(), bad, prefixed("q has 3 dimensions; expected 4: (batch, seq_q, heads, dim)"));
    a.q.ndim = -1;
    REQUIRE_ERROR(a.call(), bad, prefixed("q has -1 dimensions; expected 4: (batch, seq_q, heads, dim)"));
  }
  SECTION("negative size") {
    shape[1] = -7;
    a.k.shape = shape;
    REQUIRE_ERROR(a.call(), bad, prefixed("k has shape (2, -7, 2, 16); sizes cannot be negative"));
  }
  SECTION("product") {
    shape[0] = shape[1] = std::int64_t{1} << 32;
    a.k.shape = shape;
    REQUIRE_ERROR(a.call(), bad,
                  prefixed("k has shape (4294967296, 4294967296, 2, 16); their product can be 2^48 at most"));
  }
  SECTION("dim of k") {
    shape[3] = 8;
    a.k.shape = shape;
    REQUIRE_ERROR(a.call(), bad,
                  prefixed("k has shape (2, 7, 2, 8); expected the batch and dim of q, which has shape "
                           "(2, 5, 4, 16)"));
  }
  SECTION("heads of k") {
    shape[2] = 3;
    a.k.shape = shape;
    REQUIRE_ERROR(a.call(), bad, prefixed("k has 3 heads; expected a divisor of the 4 heads of q"));
    shape[2] = 0;
    REQUIRE_ERROR(a.call(), bad, prefixed("k has 0 heads; expected a divisor of the 4 heads of q"));
  }
  SECTION("v") {
    shape[1] = 6;
    a.v.shape = shape;
    REQUIRE_ERROR(a.call(), bad,
                  prefixed("v has shape (2, 6, 2, 16); expected (2, 7, 2, 16) (the shape of k)"));
  }
  SECTION("out") {
    a.out.shape = shape;
    REQUIRE_ERROR(a.call(), bad,
                  prefixed("out has shape (2, 7, 2, 16); expected (2, 5, 4, 16) (the shape of q)"));
  }
  SECTION("lse") {
    a.lse.shape = shape;
    REQUIRE_ERROR(a.call(), bad,
                  prefixed("lse has shape (2, 7, 2); expected (2, 4, 5) (batch, heads and seq_q of q)"));
  }
  SECTION("dim too large") {
    std::int64_t large[4] = {1, 1, 1, (std::int64_t{1} << 20) + 1}, zeros[4] = {};
    a.q.shape = large;
    a.q.strides = zeros;
    REQUIRE_ERROR(a.call(), bad, prefixed("q has shape (1, 1, 1, 1048577); dim can be 1048576 at most"));
  }
}

TEST_CASE("attention: layouts") {
  AttentionArguments a;
  const int bad = FLASH_REF_BAD_LAYOUT;
  std::int64_t strides[4] = {320, 64, 16, 1};
  SECTION("alignment") {
    a.q.data = static_cast<char*>(a.q.data) - 16;
    a.q.byte_offset = 17;
    char expected[160];
    std::snprintf(expected, sizeof expected,
                  "q has data at %p with byte_offset 17; expected a multiple of 2 bytes", a.q.data);
    REQUIRE_ERROR(a.call(), bad, prefixed(expected));
  }
  SECTION("elements of out that share memory") {
    strides[2] = 0;
    a.out.strides = strides;
    REQUIRE_ERROR(
        a.call(), bad,
        prefixed("out has shape (2, 5, 4, 16) and strides (320, 64, 0, 1); elements of an output must "
                 "not share memory"));
  }
  SECTION("out on top of an input") {
    a.out.data = a.q.data;
    REQUIRE_ERROR(a.call(), bad, prefixed("out shares memory with q"));
  }
  SECTION("lse inside out") {
    a.lse.data = static_cast<char*>(a.out.data) + 4;
    REQUIRE_ERROR(a.call(), bad, prefixed("lse shares memory with out"));
  }
  SECTION("out within the last number of lse, which is wider") {
    a.out.data = static_cast<char*>(a.lse.data) + 2 * 4 * 5 * sizeof(float) - 2;
    REQUIRE_ERROR(a.call(), bad, prefixed("lse shares memory with out"));
  }
  SECTION("strides beyond the address space") {
    strides[0] = std::int64_t{1} << 62;
    a.k.strides = strides;
    REQUIRE_ERROR(
        a.call(), bad,
        prefixed("k has shape (2, 7, 2, 16) and strides (4611686018427387904, 64, 16, 1), which reach "
                 "beyond the address space"));
  }
}

TEST_CASE("attention: out may be a view into the buffer that holds its inputs") {
  // q and out interleaved as in a packed (batch, seq, 2, heads, dim) buffer: no element in common.
  AttentionArguments a;
  TestTensor packed({2, 5, 2, 4, 16}, kFloat16);
  packed.set(std::vector<double>(packed.size(), 0.5));
  std::int64_t strides[4] = {640, 128, 16, 1};
  a.q.data = packed.tensor().data;
  a.out.data = static_cast<char*>(packed.tensor().data) + 64 * 2;
  a.q.strides = a.out.strides = strides;
  CHECK(a.call().status == FLASH_REF_OK);
}

TEST_CASE("attention: strides of dimensions of size 1 are ignored") {
  std::int64_t shape[4] = {1, 5, 1, 16}, odd_strides[4] = {-7, 16, std::int64_t{1} << 62, 1};
  AttentionArguments a, b;
  for (DLTensor* tensor : {&a.q, &a.k, &a.v, &a.out, &b.q, &b.k, &b.v, &b.out}) tensor->shape = shape;
  for (DLTensor* tensor : {&b.q, &b.k, &b.v, &b.out}) tensor->strides = odd_strides;
  CHECK(a.call(&a.q, &a.k, &a.v, &a.out, nullptr, nullptr).status == FLASH_REF_OK);
  CHECK(b.call(&b.q, &b.k, &b.v, &b.out, nullptr, nullptr).status == FLASH_REF_OK);
  CHECK(a.out_memory.memory() == b.out_memory.memory());
}

TEST_CASE("attention: options") {
  AttentionArguments a;
  const int bad = FLASH_REF_BAD_OPTIONS;
  SECTION("struct_size") {
    a.options.struct_size = 0;
    CHECK(a.call().status == FLASH_REF_OK);
    a.options.causal = 1;
    REQUIRE_ERROR(a.call(), bad,
                  prefixed("options.struct_size is 0 but other members are set; set it to "
                           "sizeof(flash_ref_attention_options)"));
    for (std::uint32_t size : {4U, 39U, 41U, 57U, 63U, 4097U, 0xffffffffU}) {
      a.options.struct_size = size;
      REQUIRE_ERROR(a.call(), bad,
                    prefixed("options.struct_size is " + std::to_string(size) +
                             "; expected 64, sizeof(flash_ref_attention_options)"));
    }
  }
  SECTION("a longer struct of a later version") {
    unsigned char later[100] = {};
    a.options.struct_size = sizeof later;
    std::memcpy(later, &a.options, sizeof a.options);
    CHECK(a.call(&a.q, &a.k, &a.v, &a.out, nullptr, later).status == FLASH_REF_OK);
    later[70] = 1;
    REQUIRE_ERROR(
        a.call(&a.q, &a.k, &a.v, &a.out, nullptr, later), bad,
        prefixed("options.struct_size is 100 and a member beyond byte 64 is set, which this library "
                 "(ABI version 4) does not know"));
  }
  SECTION("causal") {
    a.options.causal = 2;
    REQUIRE_ERROR(a.call(), bad, prefixed("options.causal is 2; expected 0 or 1"));
  }
  SECTION("softmax_scale") {
    a.options.softmax_scale = INFINITY;
    REQUIRE_ERROR(a.call(), bad,
                  prefixed("options.softmax_scale is inf; expected a number of at most 1e+30"));
  }
  SECTION("the shorter struct of version 1") {
    a.options.struct_size = 40;
    a.options.softcap = -1;  // beyond it
    CHECK(a.call().status == FLASH_REF_OK);
  }
  SECTION("softcap") {
    a.options.softcap = -2;
    REQUIRE_ERROR(a.call(), bad,
                  prefixed("options.softcap is -2; expected 0 or a number from 1e-06 to 1e+30"));
    a.options.softcap = 3e38F;
    REQUIRE_ERROR(a.call(), bad,
                  prefixed("options.softcap is 3e+38; expected 0 or a number from 1e-06 to 1e+30"));
  }
  SECTION("alibi_slopes") {
    TestTensor halves({4}, kFloat16), three({3}, kFloat32);
    a.options.alibi_slopes = &halves;
    REQUIRE_ERROR(a.call(), FLASH_REF_BAD_DTYPE,
                  prefixed("options.alibi_slopes has dtype float16; accepted: float32"));
    a.options.alibi_slopes = &three;
    REQUIRE_ERROR(a.call(), FLASH_REF_BAD_SHAPE,
                  prefixed("options.alibi_slopes has shape (3); expected (4) (heads of q)"));
  }
  SECTION("reserved") {
    a.options.reserved = 3;
    REQUIRE_ERROR(a.call(), bad, prefixed("options.reserved is 3; expected 0"));
  }
  SECTION("workspace_bytes without workspace") {
    a.options.workspace_bytes = 10;
    REQUIRE_ERROR(a.call(), bad,
                  prefixed("options.workspace is NULL and options.workspace_bytes is 10; expected 0"));
  }
  SECTION("workspace too small") {
    char workspace[64];
    a.options.workspace = workspace;
    a.options.workspace_bytes = sizeof workspace;
    const Outcome outcome = a.call();
    CHECK(outcome.status == FLASH_REF_BAD_WORKSPACE);
    CHECK(outcome.message.rfind(prefixed("options.workspace_bytes is 64; expected at least "), 0) == 0);
    CHECK_FALSE(outcome.written);
  }
}

TEST_CASE("attention's workspace query checks its arguments and does not need data") {
  AttentionArguments a;
  std::size_t bytes = 77;
  CHECK(flash_ref_attention_fwd_workspace(&a.q, &a.k, &a.v, nullptr, nullptr) == FLASH_REF_NULL_ARGUMENT);
  CHECK(flash_ref_last_error() == std::string("flash_ref_attention_fwd_workspace: bytes is NULL"));
  a.k.dtype = {2, 32, 1};
  CHECK(flash_ref_attention_fwd_workspace(&a.q, &a.k, &a.v, nullptr, &bytes) == FLASH_REF_BAD_DTYPE);
  CHECK(bytes == 77);
  a.k.dtype = {2, 16, 1};
  a.q.data = a.k.data = a.v.data = nullptr;
  CHECK(flash_ref_attention_fwd_workspace(&a.q, &a.k, &a.v, nullptr, &bytes) == FLASH_REF_OK);
  CHECK(bytes > 77);
}
