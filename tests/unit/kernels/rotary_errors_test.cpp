// Every way to call flash_ref_rotary wrongly, with the whole message, and what the message belongs to.
#include <thread>

#include "tests/catch.h"
#include "tests/unit/kernels/calls.h"

using namespace flash_ref_test;

extern "C" int flash_ref_abi_test(void);

namespace {

std::string prefixed(const std::string& message) { return "flash_ref_rotary: " + message; }

}  // namespace

TEST_CASE("rotary: NULL arguments") {
  RotaryArguments a;
  CHECK(a.call().status == FLASH_REF_OK);
  const int null = FLASH_REF_NULL_ARGUMENT;
  REQUIRE_ERROR(a.call(nullptr, &a.cos, &a.sin, &a.out, nullptr), null, prefixed("x is NULL"));
  REQUIRE_ERROR(a.call(&a.x, nullptr, &a.sin, &a.out, nullptr), null, prefixed("cos is NULL"));
  REQUIRE_ERROR(a.call(&a.x, &a.cos, nullptr, &a.out, nullptr), null, prefixed("sin is NULL"));
  REQUIRE_ERROR(a.call(&a.x, &a.cos, &a.sin, nullptr, nullptr), null, prefixed("out is NULL"));
  a.sin.data = nullptr;
  REQUIRE_ERROR(a.call(), null, prefixed("sin has NULL data and shape (5, 6)"));
}

TEST_CASE("rotary: dtypes") {
  RotaryArguments a;
  SECTION("x widened, tables not") {
    a.x.dtype = {2, 32, 1};
    REQUIRE_ERROR(a.call(), FLASH_REF_BAD_DTYPE,
                  prefixed("cos has dtype bfloat16; accepted: float32 (the dtype of x)"));
  }
  SECTION("tables kept wide") {
    a.sin.dtype = {2, 32, 1};
    REQUIRE_ERROR(a.call(), FLASH_REF_BAD_DTYPE,
                  prefixed("sin has dtype float32; accepted: bfloat16 (the dtype of x)"));
  }
  SECTION("x") {
    a.x.dtype = {0, 64, 1};
    REQUIRE_ERROR(a.call(), FLASH_REF_BAD_DTYPE,
                  prefixed("x has dtype int64; accepted: float16, float32 or bfloat16"));
  }
  SECTION("out") {
    a.out.dtype = {2, 16, 1};
    REQUIRE_ERROR(a.call(), FLASH_REF_BAD_DTYPE,
                  prefixed("out has dtype float16; accepted: bfloat16 (the dtype of x)"));
  }
}

TEST_CASE("rotary: devices, shapes and layouts") {
  RotaryArguments a;
  std::int64_t table[2] = {5, 6}, wide[4] = {2, 5, 4, 18};
  SECTION("device") {
    a.cos.device.device_type = static_cast<DLDeviceType>(10);
    REQUIRE_ERROR(
        a.call(), FLASH_REF_BAD_DEVICE,
        prefixed(std::string("cos is on device type 10 (ROCm); this library runs on device type 1 (CPU)") +
                 kAndCuda));
  }
  SECTION("dimensions") {
    a.cos.ndim = 4;
    REQUIRE_ERROR(a.call(), FLASH_REF_BAD_SHAPE,
                  prefixed("cos has 4 dimensions; expected 2: (positions, rotary_dim / 2)"));
  }
  SECTION("length of the tables") {
    table[0] = 4;
    a.cos.shape = a.sin.shape = table;
    REQUIRE_ERROR(a.call(), FLASH_REF_BAD_SHAPE,
                  prefixed("cos has shape (4, 6); expected at least 5 rows: seq 5 and offset 0"));
  }
  SECTION("rotary_dim larger than dim") {
    table[1] = 9;
    a.cos.shape = table;
    REQUIRE_ERROR(
        a.call(), FLASH_REF_BAD_SHAPE,
        prefixed("cos has shape (5, 9); expected (positions, rotary_dim / 2) with rotary_dim <= 16"));
  }
  SECTION("sin") {
    table[1] = 5;
    a.sin.shape = table;
    REQUIRE_ERROR(a.call(), FLASH_REF_BAD_SHAPE,
                  prefixed("sin has shape (5, 5); expected (5, 6) (the shape of cos)"));
  }
  SECTION("out") {
    a.out.shape = wide;
    REQUIRE_ERROR(a.call(), FLASH_REF_BAD_SHAPE,
                  prefixed("out has shape (2, 5, 4, 18); expected (2, 5, 4, 16) (the shape of x)"));
  }
  SECTION("out half way into x") {
    a.out.data = static_cast<char*>(a.x.data) + 32;
    REQUIRE_ERROR(a.call(), FLASH_REF_BAD_LAYOUT, prefixed("out shares memory with x"));
  }
  SECTION("out on top of a table") {
    a.out.data = a.cos.data;
    REQUIRE_ERROR(a.call(), FLASH_REF_BAD_LAYOUT, prefixed("out shares memory with cos"));
  }
}

TEST_CASE("rotary: options") {
  RotaryArguments a;
  a.options.interleaved = 5;
  REQUIRE_ERROR(a.call(), FLASH_REF_BAD_OPTIONS, prefixed("options.interleaved is 5; expected 0 or 1"));
  a.options.interleaved = 0;
  a.options.conjugate = 3;
  REQUIRE_ERROR(a.call(), FLASH_REF_BAD_OPTIONS, prefixed("options.conjugate is 3; expected 0 or 1"));
  a.options.struct_size = 8;
  REQUIRE_ERROR(a.call(), FLASH_REF_BAD_OPTIONS,
                prefixed("options.struct_size is 8; expected 56, sizeof(flash_ref_rotary_options)"));
}

TEST_CASE("rotary: offsets") {
  RotaryArguments a;
  SECTION("of all sequences") {
    a.options.seqlen_offset = -1;
    REQUIRE_ERROR(a.call(), FLASH_REF_BAD_OPTIONS,
                  prefixed("options.seqlen_offset is -1; expected 0 to 288230376151711744"));
    a.options.seqlen_offset = 1;
    REQUIRE_ERROR(a.call(), FLASH_REF_BAD_SHAPE,
                  prefixed("cos has shape (5, 6); expected at least 6 rows: seq 5 and offset 1"));
  }
  SECTION("of each sequence") {
    TestTensor offsets({2}, kInt32), three({3}, kInt32), numbers({2}, kFloat32);
    offsets.set_bits(0, 0);
    offsets.set_bits(1, 0);
    a.options.seqlen_offsets = &offsets;
    CHECK(a.call().status == FLASH_REF_OK);
    RotaryArguments b;
    b.options.seqlen_offsets = &offsets;
    offsets.set_bits(1, 0xffffffffU);
    REQUIRE_ERROR(b.call(), FLASH_REF_BAD_VALUE,
                  prefixed("options.seqlen_offsets[1] is -1; expected at least 0"));
    offsets.set_bits(1, 2);
    REQUIRE_ERROR(b.call(), FLASH_REF_BAD_SHAPE,
                  prefixed("cos has shape (5, 6); expected at least 7 rows: seq 5 and offset 2"));
    b.options.seqlen_offsets = &three;
    REQUIRE_ERROR(b.call(), FLASH_REF_BAD_SHAPE,
                  prefixed("options.seqlen_offsets has shape (3); expected (2) (batch of x)"));
    b.options.seqlen_offsets = &numbers;
    REQUIRE_ERROR(b.call(), FLASH_REF_BAD_DTYPE,
                  prefixed("options.seqlen_offsets has dtype float32; accepted: int32"));
  }
}

TEST_CASE("rotary needs no workspace") {
  RotaryArguments a;
  std::size_t bytes = 77;
  CHECK(flash_ref_rotary_workspace(&a.x, &a.cos, &a.sin, nullptr, &bytes) == FLASH_REF_OK);
  CHECK(bytes == 0);
  CHECK(flash_ref_rotary_workspace(&a.x, &a.cos, &a.sin, nullptr, nullptr) == FLASH_REF_NULL_ARGUMENT);
}

TEST_CASE("a message belongs to its thread and is cleared by the next success") {
  RotaryArguments a;
  CHECK(a.call(nullptr, &a.cos, &a.sin, &a.out, nullptr).message == prefixed("x is NULL"));
  std::string elsewhere = "unset";
  std::thread([&] { elsewhere = flash_ref_last_error(); }).join();
  CHECK(elsewhere == "");
  CHECK(flash_ref_last_error() == prefixed("x is NULL"));
  CHECK(a.call().message == "");
}

TEST_CASE("the header works from C") { CHECK(flash_ref_abi_test() == 0); }
