#include "rules/dtype/dtype.h"

#include <set>

#include "rules/dtype/dtype_set.h"
#include "tests/catch.h"

using namespace dtype_guard;

TEST_CASE("dtypes are numbered as c10::ScalarType numbers them") {
  CHECK(static_cast<int>(Dtype::kUInt8) == 0);
  CHECK(static_cast<int>(Dtype::kFloat16) == 5);
  CHECK(static_cast<int>(Dtype::kBool) == 11);
  CHECK(static_cast<int>(Dtype::kBFloat16) == 15);
  CHECK(static_cast<int>(Dtype::kFloat8_e5m2) == 23);
  CHECK(static_cast<int>(Dtype::kFloat8_e4m3fn) == 24);
  CHECK(static_cast<int>(Dtype::kUInt16) == 27);
  CHECK(static_cast<int>(Dtype::kUInt1) == 30);
  CHECK(static_cast<int>(Dtype::kInt1) == 37);
  CHECK(static_cast<int>(Dtype::kFloat8_e8m0fnu) == 44);
  CHECK(static_cast<int>(Dtype::kFloat4_e2m1fn_x2) == 45);
  CHECK(static_cast<int>(Dtype::kUndefined) == 46);
}

TEST_CASE("spellings of C, CUDA, ATen, cutlass and Python name the same dtype") {
  for (const char* half : {"_Float16", "__half", "half", "std::float16_t", "at::kHalf", "torch::kFloat16",
                           "torch.half", "cutlass::half_t", "c10::Half", "const ::c10::Half ", "float16",
                           "fp16", "Half", "c10::ScalarType::Half"}) {
    CAPTURE(half);
    CHECK(parse_dtype(half) == Dtype::kFloat16);
  }
  for (const char* bfloat : {"__bf16", "__nv_bfloat16", "nv_bfloat16", "at::kBFloat16", "torch.bfloat16",
                             "BFloat16", "cutlass::bfloat16_t", "at::BFloat16", "bf16"}) {
    CAPTURE(bfloat);
    CHECK(parse_dtype(bfloat) == Dtype::kBFloat16);
  }
  CHECK(parse_dtype("float") == Dtype::kFloat32);
  CHECK(parse_dtype("torch::kFloat") == Dtype::kFloat32);
  CHECK(parse_dtype("double") == Dtype::kFloat64);
  CHECK(parse_dtype("unsigned long long") == Dtype::kUInt64);
  CHECK(parse_dtype("at::kInt") == Dtype::kInt32);
  CHECK(parse_dtype("int1") == Dtype::kInt1);
}

TEST_CASE("what is no dtype is none") {
  for (const char* text : {"", " ", "::", "const ", "floa", "Float16x", "torch.", "undefined", "Undefined"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_dtype(text).has_value());
  }
}

TEST_CASE("every dtype's own name parses back to it") {
  std::set<std::string_view> names;
  for (Dtype dtype : all_dtypes()) {
    CHECK(parse_dtype(name(dtype)) == dtype);
    CHECK(parse_dtype(aten_name(dtype)) == dtype);
    CHECK(bits(dtype) > 0);
    CHECK(names.insert(name(dtype)).second);
  }
}

TEST_CASE("DLPack types map both ways") {
  CHECK(to_dlpack(Dtype::kFloat16) == DlpackType{2, 16, 1});
  CHECK(to_dlpack(Dtype::kBFloat16) == DlpackType{4, 16, 1});
  CHECK(to_dlpack(Dtype::kBool) == DlpackType{6, 8, 1});
  CHECK(to_dlpack(Dtype::kFloat8_e4m3fn) == DlpackType{10, 8, 1});
  CHECK_FALSE(to_dlpack(Dtype::kQInt8).has_value());
  CHECK_FALSE(to_dlpack(Dtype::kBits8).has_value());
  CHECK_FALSE(to_dlpack(Dtype::kUndefined).has_value());
  for (Dtype dtype : all_dtypes()) {
    if (const auto type = to_dlpack(dtype)) CHECK(from_dlpack(*type) == dtype);
  }
  CHECK_FALSE(from_dlpack({2, 16, 4}).has_value());
  CHECK_FALSE(from_dlpack({0, 0, 0}).has_value());
  CHECK_FALSE(from_dlpack({255, 255, 65535}).has_value());
}

TEST_CASE("categories") {
  CHECK(is_floating(Dtype::kFloat8_e5m2));
  CHECK_FALSE(is_floating(Dtype::kComplex64));
  CHECK(is_complex(Dtype::kComplex32));
  CHECK(is_integral(Dtype::kUInt16));
  CHECK_FALSE(is_integral(Dtype::kBool));
  CHECK(is_half(Dtype::kBFloat16));
  CHECK_FALSE(is_half(Dtype::kFloat8_e5m2));
  CHECK(name(static_cast<Dtype>(200)) == "undefined");
}

TEST_CASE("a set describes itself in table order") {
  CHECK(DtypeSet{}.describe().empty());
  CHECK(DtypeSet{Dtype::kFloat16}.describe() == "float16");
  CHECK(DtypeSet{Dtype::kBFloat16, Dtype::kFloat16}.describe() == "float16 or bfloat16");
  CHECK(DtypeSet{Dtype::kFloat32, Dtype::kBFloat16, Dtype::kFloat16}.describe() ==
        "float16, float32 or bfloat16");
}
