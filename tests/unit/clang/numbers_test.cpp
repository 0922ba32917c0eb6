// Plain C++ numbers and buffers: implicit conversions are visible.
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
  CHECK(contains(text, "%7 = implicit cast %4, %5, from=%6 ; 1:84-1:95 \"q[0] * s[0]\""));
  CHECK(contains(without_positions(text),
                 "  %4 = load %1[*]\n"
                 "  %5 = const float32\n"
                 "  %6 = const float16\n"
                 "  %7 = implicit cast %4, %5, from=%6\n"
                 "  %8 = load %2[*]\n"
                 "  %9 = op mul(self=%7, other=%8)\n"
                 "  write %3, %9\n"));
}

TEST_CASE("a written cast is explicit; storing back into a half is an implicit cast") {
  CHECK(
      body("void f(_Float16* const q, const float s) { q[0] = static_cast<_Float16>(q[0] * s); q[1] *= s; }",
           "f") ==
      "  %1 = param 0\n"
      "  %2 = param 1\n"
      "  %3 = load %1[*]\n"
      "  %4 = const float32\n"
      "  %5 = const float16\n"
      "  %6 = implicit cast %3, %4, from=%5\n"
      "  %7 = op mul(self=%6, other=%2)\n"
      "  %8 = const float16\n"
      "  %9 = cast %7, %8\n"
      "  write %1, %9\n"
      "  %10 = load %1[*]\n"
      "  %11 = const float32\n"
      "  %12 = const float16\n"
      "  %13 = implicit cast %10, %11, from=%12\n"
      "  %14 = op mul(self=%13, other=%2)\n"
      "  %15 = const float16\n"
      "  %16 = implicit cast %14, %15\n"
      "  write %1, %16\n"
      "  return\n");
}

TEST_CASE("half types of libraries count as numbers, with the results that their operators declare") {
  CHECK(body("void f(const c10::Half a, const float c, c10::Half* const out) { out[0] = a * c; }", "f") ==
        "  %1 = param 0\n"
        "  %2 = param 1\n"
        "  %3 = param 2\n"
        "  %4 = const float32\n"
        "  %5 = const float16\n"
        "  %6 = implicit cast %1, %4, from=%5\n"
        "  %7 = op mul(self=%6, other=%2)\n"
        "  %8 = const float16\n"
        "  %9 = implicit cast %7, %8\n"
        "  write %3, %9\n"
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
        "  %3 = const float16\n"
        "  %4 = implicit cast %1, %2, from=%3\n"
        "  %5 = const 2.0\n"
        "  %6 = op mul(self=%4, other=%5)\n"
        "  return %6\n");
}

TEST_CASE("buffers have their element type, whatever allocates them") {
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
                 "  %6 = const float16\n"
                 "  %7 = implicit cast %4, %5, from=%6\n"
                 "  write %3, %7\n"
                 "  store wide, %3\n"));
  CHECK(contains(text, "alloc array(dtype=%8)\n  store local, %9\n"));
  CHECK(contains(text, "alloc new(dtype=%10)\n  store fresh, %11\n"));
  CHECK(contains(text, "alloc memory(dtype=%12)\n  store raw, %13\n"));
  CHECK(contains(text, "= const float16\n  %15 = alloc array(dtype=%14)\n  store pair, %15\n"));
}

TEST_CASE("a conversion that is written is explicit, of half types with a conversion function too") {
  const auto of = [](const std::string& expression) {
    return body(
        "struct half { unsigned short bits; operator float() const; };\n"
        "void f(const half h, const _Float16 b, float* const out) { out[0] = " +
            expression + "; }",
        "f");
  };
  for (const char* each :
       {"static_cast<float>(h)", "float(h)", "(float)h", "static_cast<float>(b)", "(float)b"}) {
    INFO(each << "\n" << of(each));
    CHECK(contains(of(each), "= cast %"));
    CHECK(contains(of(each), ", from=%"));
    CHECK_FALSE(contains(of(each), "implicit"));
    const std::string multiplied = of(std::string(each) + " * out[1]");
    CHECK(contains(multiplied, "= cast %"));
    CHECK_FALSE(contains(multiplied, "implicit"));
  }
  CHECK(contains(of("h"), "implicit cast %1"));
  CHECK(contains(of("double(h)"), "  %4 = const float64\n"));  // one conversion, whatever is between
}

TEST_CASE("a function of numbers gives something of what it is given") {
  const auto of = [](const std::string& given) {
    return body(
        "#include <cmath>\nvoid f(const float x, float* const out) { out[0] = fmaxf(" + given + "); }", "f");
  };
  CHECK(contains(of("x, 1.0f"), "write %2, %1\n"));
  CHECK(contains(of("x, out[1]"), "  %3 = load %2[*]\n  %4 = phi %1, %3\n  write %2, %4\n"));
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
