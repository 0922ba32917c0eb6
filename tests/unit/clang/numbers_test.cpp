// Plain C++ numbers and buffers: conversions that nobody wrote are visible.
#include "tests/catch.h"
#include "tests/unit/clang/snippet.h"

namespace dtype_guard::clang_front_end {
namespace {

TEST_CASE("half times float is float: the half operand is cast at the product") {
  const LoweredSource source = lower_snippet(
      "void f(const _Float16* const q, const float* const s, float* const out) { out[0] = q[0] * s[0]; }");
  const std::string text = body_with_positions(source, "f");
  INFO(text);
  CHECK(contains(text, "parameter q: tensor \"float16\""));
  CHECK(contains(text, "%6 = implicit cast %4, %5 ; 1:84-1:95 \"q[0] * s[0]\""));
  CHECK(contains(without_positions(text),
                 "  %4 = load %1[*]\n"
                 "  %5 = const float32\n"
                 "  %6 = implicit cast %4, %5\n"
                 "  %7 = load %2[*]\n"
                 "  %8 = op mul(self=%6, other=%7)\n"
                 "  write %3, %8\n"));
}

TEST_CASE("a written cast is explicit; storing back into a half is a cast that nobody wrote") {
  CHECK(
      body("void f(_Float16* const q, const float s) { q[0] = static_cast<_Float16>(q[0] * s); q[1] *= s; }",
           "f") ==
      "  %1 = param 0\n"
      "  %2 = param 1\n"
      "  %3 = load %1[*]\n"
      "  %4 = const float32\n"
      "  %5 = implicit cast %3, %4\n"
      "  %6 = op mul(self=%5, other=%2)\n"
      "  %7 = const float16\n"
      "  %8 = cast %6, %7\n"
      "  write %1, %8\n"
      "  %9 = load %1[*]\n"
      "  %10 = const float32\n"
      "  %11 = implicit cast %9, %10\n"
      "  %12 = op mul(self=%11, other=%2)\n"
      "  %13 = const float16\n"
      "  %14 = implicit cast %12, %13\n"
      "  write %1, %14\n"
      "  return\n");
}

TEST_CASE("half types of libraries count as numbers, with the results that their operators declare") {
  CHECK(body("void f(const c10::Half a, const float c, c10::Half* const out) { out[0] = a * c; }", "f") ==
        "  %1 = param 0\n"
        "  %2 = param 1\n"
        "  %3 = param 2\n"
        "  %4 = const float32\n"
        "  %5 = implicit cast %1, %4\n"
        "  %6 = op mul(self=%5, other=%2)\n"
        "  %7 = const float16\n"
        "  %8 = implicit cast %6, %7\n"
        "  write %3, %8\n"
        "  return\n");
}

TEST_CASE("a half type of the project's own is one by its name and size") {
  const std::string text = body(
      "struct half { unsigned short bits; operator float() const { return 0; } };\n"
      "float f(const half h) { return h * 2.0F; }",
      "f");
  CHECK(text ==
        "  %1 = param 0\n"
        "  %2 = const float32\n"
        "  %3 = implicit cast %1, %2\n"
        "  %4 = const 2.0\n"
        "  %5 = op mul(self=%3, other=%4)\n"
        "  return %5\n");
}

TEST_CASE("buffers are allocated with their element type, whoever allocates") {
  const std::string text = body(
      "#include <cstdlib>\n"
      "void f(const std::vector<_Float16>& h) {\n"
      "  std::vector<float> wide(h.begin(), h.end());\n"
      "  float local[4];\n"
      "  float* fresh = new float[8];\n"
      "  float* raw = static_cast<float*>(std::malloc(16));\n"
      "  std::array<_Float16, 2> pair{};\n"
      "}",
      "f");
  INFO(text);
  CHECK(contains(text,
                 "  %2 = const float32\n"
                 "  %3 = alloc vector(dtype=%2)\n"
                 "  %4 = load %1[*]\n"
                 "  %5 = const float32\n"
                 "  %6 = implicit cast %4, %5\n"
                 "  write %3, %6\n"
                 "  store wide, %3\n"));
  CHECK(contains(text, "alloc array(dtype=%7)\n  store local, %8\n"));
  CHECK(contains(text, "alloc new(dtype=%9)\n  store fresh, %10\n"));
  CHECK(contains(text, "alloc memory(dtype=%11)\n  store raw, %12\n"));
  CHECK(contains(text, "= const float16\n  %14 = alloc array(dtype=%13)\n  store pair, %14\n"));
}

TEST_CASE("bits that are read as another type are no conversion") {
  CHECK(contains(body("float* f(_Float16* const h) { return reinterpret_cast<float*>(h); }", "f"),
                 "op reinterpret_cast(self=%1, dtype=%2)"));
}

TEST_CASE("a counter changes: a loop over it ends") {
  CHECK(contains(body("void f() { int i = 0; ++i; i += 2; }", "f"),
                 "  %2 = const int32\n"
                 "  %3 = alloc number(dtype=%2)\n"
                 "  %4 = load %3[*]\n"
                 "  store i, %4\n"));
}

TEST_CASE("ATen's numbers that may be symbols are numbers") {
  const std::string code =
      "namespace c10 { class SymFloat { public: SymFloat(double); SymFloat sqrt() const; operator Scalar() "
      "const; }; }\n"
      "at::Tensor f(const at::Tensor& x, const c10::SymFloat scale) { return x * scale.sqrt(); }";
  CHECK(body(code, "f") ==
        "  %1 = param 0\n"
        "  %2 = param 1\n"
        "  %3 = const float64\n"
        "  %4 = alloc number(dtype=%3)\n"
        "  %5 = load %4[*]\n"
        "  %6 = op mul(self=%1, other=%5)\n"
        "  return %6\n");
}

}  // namespace
}  // namespace dtype_guard::clang_front_end
