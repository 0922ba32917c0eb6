// Ways to call the backward functions wrongly, with the whole message; and a mask, which forward and backward
// take.
#include "tests/catch.h"
#include "tests/unit/kernels/backward_calls.h"

using namespace flash_ref_test;

namespace {

std::string of_bwd(const std::string& message) { return "flash_ref_attention_bwd: " + message; }
std::string of_fwd(const std::string& message) { return "flash_ref_attention_fwd: " + message; }

}  // namespace

TEST_CASE("attention backward: shapes") {
  AttentionBwdArguments a;
  CHECK(a.call().status == FLASH_REF_OK);
  std::int64_t shape[] = {2, 5, 4, 8};
  a.named("dout").shape = shape;
  REQUIRE_ERROR(a.call(), FLASH_REF_BAD_SHAPE,
                of_bwd("dout has shape (2, 5, 4, 8); expected (2, 5, 4, 16) (the shape of q)"));
  AttentionBwdArguments b;
  b.named("dk").shape = shape;
  REQUIRE_ERROR(b.call(), FLASH_REF_BAD_SHAPE,
                of_bwd("dk has shape (2, 5, 4, 8); expected (2, 7, 2, 16) (the shape of k)"));
  AttentionBwdArguments c;
  c.named("lse").ndim = 2;
  REQUIRE_ERROR(c.call(), FLASH_REF_BAD_SHAPE,
                of_bwd("lse has 2 dimensions; expected 3: (batch, heads, seq_q)"));
}

TEST_CASE("attention backward: gradients in places of their own") {
  for (const char* role : {"q", "k", "v", "out", "lse", "dout", "dk"}) {
    AttentionBwdArguments a;
    a.named("dv").data = a.named(role).data;
    REQUIRE_ERROR(a.call(), FLASH_REF_BAD_LAYOUT, of_bwd(std::string("dv shares memory with ") + role));
  }
  AttentionBwdArguments a;
  std::int64_t strides[] = {0, 64, 16, 1};
  a.named("dq").strides = strides;
  REQUIRE_ERROR(
      a.call(), FLASH_REF_BAD_LAYOUT,
      of_bwd("dq has shape (2, 5, 4, 16) and strides (0, 64, 16, 1); elements of an output must not "
             "share memory"));
}

TEST_CASE("attention backward: inputs may share memory") {
  AttentionBwdArguments a;
  a.named("v").data = a.named("k").data;
  a.named("dout").data = a.named("out").data;
  CHECK(a.call().status == FLASH_REF_OK);
}

TEST_CASE("attention backward: options and workspace") {
  AttentionBwdArguments a;
  a.options.causal = 2;
  REQUIRE_ERROR(a.call(), FLASH_REF_BAD_OPTIONS, of_bwd("options.causal is 2; expected 0 or 1"));
  a.options.causal = 0;
  char little[8];
  a.options.workspace = little;
  a.options.workspace_bytes = sizeof little;
  const Outcome outcome = a.call();
  CHECK(outcome.status == FLASH_REF_BAD_WORKSPACE);
  CHECK(outcome.message.rfind(of_bwd("options.workspace_bytes is 8; expected at least "), 0) == 0);
  CHECK_FALSE(outcome.written);
}

TEST_CASE("a mask: dtypes and shapes") {
  AttentionArguments a;
  TestTensor wide({2, 4, 5, 7}, kFloat32);
  DLTensor mask = wide.tensor();
  a.options.mask = &mask;
  CHECK(a.call().status == FLASH_REF_OK);
  mask.dtype = {4, 16, 1};
  REQUIRE_ERROR(
      a.call(), FLASH_REF_BAD_DTYPE,
      of_fwd("options.mask has dtype bfloat16; accepted: float32 or bool, or float16 (the dtype of q)"));
  mask.dtype = {2, 32, 1};
  std::int64_t shape[] = {2, 4, 5, 8};
  mask.shape = shape;
  REQUIRE_ERROR(
      a.call(), FLASH_REF_BAD_SHAPE,
      of_fwd("options.mask has shape (2, 4, 5, 8); expected (2, 4, 5, 7) (batch, heads and seq_q of q, "
             "each perhaps 1, and seq_k of k)"));
  mask.ndim = 3;
  REQUIRE_ERROR(a.call(), FLASH_REF_BAD_SHAPE,
                of_fwd("options.mask has 3 dimensions; expected 2: (seq_q or 1, seq_k), with 2 or 4 "
                       "dimensions"));
  mask.ndim = 2;
  shape[0] = 1, shape[1] = 1;
  REQUIRE_ERROR(a.call(), FLASH_REF_BAD_SHAPE,
                of_fwd("options.mask has shape (1, 1); expected (1, 7) (seq_q of q, perhaps 1, and seq_k of "
                       "k)"));
  mask = wide.tensor();
  mask.data = a.out.data;
  REQUIRE_ERROR(a.call(), FLASH_REF_BAD_LAYOUT, of_fwd("out shares memory with options.mask"));
}

TEST_CASE("a caller that knows no mask gives none, whatever lies behind its struct") {
  AttentionArguments a;
  a.options.mask = reinterpret_cast<const DLTensor*>(8);
  a.options.struct_size = offsetof(flash_ref_attention_options, mask);
  CHECK(a.call().status == FLASH_REF_OK);
}

TEST_CASE("a mask of sequences of different lengths covers the longest ones") {
  VarlenBwdArguments a;
  const auto of_varlen = [](const std::string& message) {
    return "flash_ref_attention_varlen_bwd: options.mask has shape " + message;
  };
  std::int64_t shape[4] = {2, 4, 5, 7};
  TestTensor wide({2, 4, 9, 9}, kFloat32);
  DLTensor mask = wide.tensor();
  mask.shape = shape;
  a.options.mask = &mask;
  CHECK(a.call().status == FLASH_REF_OK);
  shape[2] = 9, shape[3] = 9;
  CHECK(a.call().status == FLASH_REF_OK);
  shape[0] = shape[1] = shape[2] = 1;
  CHECK(a.call().status == FLASH_REF_OK);
  shape[3] = 6;
  REQUIRE_ERROR(
      a.call(), FLASH_REF_BAD_SHAPE,
      of_varlen("(1, 1, 1, 6); expected (1, 1, 1, 7) (batch, heads of q, the longest sequence of q, "
                "each perhaps 1, and the longest of k; lengths may be more)"));
  shape[0] = 4, shape[1] = 7;
  mask.ndim = 2;
  REQUIRE_ERROR(a.call(), FLASH_REF_BAD_SHAPE,
                of_varlen("(4, 7); expected (5, 7) (the longest sequence of q, perhaps 1, and of k, each or "
                          "more)"));
  shape[0] = 5;
  mask.data = a.named("dk").data;
  REQUIRE_ERROR(a.call(), FLASH_REF_BAD_LAYOUT,
                "flash_ref_attention_varlen_bwd: dk shares memory with options.mask");
}

TEST_CASE("rwkv7 backward: shapes and places") {
  Rwkv7BwdArguments a;
  CHECK(a.call().status == FLASH_REF_OK);
  for (const char* role : {"r", "initial_state", "dout", "dk"}) {
    Rwkv7BwdArguments b;
    b.named("db").data = b.named(role).data;
    REQUIRE_ERROR(b.call(), FLASH_REF_BAD_LAYOUT,
                  std::string("flash_ref_rwkv7_bwd: db shares memory with ") + role);
  }
  std::int64_t shape[] = {2, 3, 8, 4};
  a.named("dinitial_state").shape = shape;
  REQUIRE_ERROR(a.call(), FLASH_REF_BAD_SHAPE,
                "flash_ref_rwkv7_bwd: dinitial_state has shape (2, 3, 8, 4); expected (2, 3, 8, 8) (batch, "
                "heads, dim and dim of r)");
}
