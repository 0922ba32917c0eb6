// Statements: branches, loops, early exits, checks and destructors.
#include "tests/catch.h"
#include "tests/unit/clang/snippet.h"

namespace dtype_guard::clang_front_end {
namespace {

TEST_CASE("a conditional expression is blocks and a phi") {
  CHECK(body("at::Tensor f(const at::Tensor& x, const bool wide) { return wide ? x.to(at::kFloat) : x; }",
             "f") ==
        "  %1 = param 0\n"
        "  %2 = param 1\n"
        "  branch %2 ? b1 : b2\n"
        "b1:\n"
        "  %3 = const float32\n"
        "  %4 = op to(self=%1, dtype=%3)\n"
        "  jump b3\n"
        "b2:\n"
        "  %5 = copy %1\n"
        "  jump b3\n"
        "b3:\n"
        "  %6 = phi %4, %5\n"
        "  return %6\n");
}

TEST_CASE("a loop tests, runs, steps; break and continue leave it where they say") {
  CHECK(body("void f(at::Tensor x, const bool stop) {\n"
             "  for (;;) { if (stop) break; x = x * x; if (!stop) continue; x = x.view({1}); }\n"
             "}",
             "f") ==
        "  %1 = param 0\n"
        "  store x, %1\n"
        "  %2 = param 1\n"
        "  jump b1\n"
        "b1:\n"
        "  jump b2\n"
        "b2:\n"
        "  branch %2 ? b3 : b5\n"
        "b3:\n"
        "  jump b4\n"
        "b4:\n"
        "  return\n"
        "b5:\n"
        "  jump b6\n"
        "b6:\n"
        "  %3 = load x\n"
        "  %4 = load x\n"
        "  %5 = op mul(self=%3, other=%4)\n"
        "  store x, %5\n"
        "  %6 = op logical_not(self=%2)\n"
        "  branch %6 ? b7 : b8\n"
        "b7:\n"
        "  jump b10\n"
        "b8:\n"
        "  jump b9\n"
        "b9:\n"
        "  %7 = load x\n"
        "  %8 = const 1\n"
        "  %9 = pack(%8)\n"
        "  %10 = op view(self=%7, size=%9)\n"
        "  store x, %10\n"
        "  jump b10\n"
        "b10:\n"
        "  jump b1\n");
}

TEST_CASE("a loop that rebinds its variable rebinds every element") {
  CHECK(body("void f(std::vector<at::Tensor>& list) { for (auto& t : list) t = t.to(at::kHalf); }", "f") ==
        "  %1 = param 0\n"
        "  jump b1\n"
        "b1:\n"
        "  %2 = load %1[*]\n"
        "  store t, %2\n"
        "  %3 = load t\n"
        "  %4 = const float16\n"
        "  %5 = op to(self=%3, dtype=%4)\n"
        "  store t, %5\n"
        "  jump b2\n"
        "b2:\n"
        "  %6 = op more_elements()\n"
        "  branch %6 ? b1 : b3\n"
        "b3:\n"
        "  %7 = load t\n"
        "  %8 = pack()\n"
        "  store %1, %8\n"
        "  store %1[*], %7\n"
        "  jump b4\n"
        "b4:\n"
        "  return\n");
}

TEST_CASE("a for loop asks of variables and constants before its first round") {
  const std::string lowered =
      body("void f(at::Tensor x, const int n) { for (int i = 0; i < n; ++i) x = x * x; }", "f");
  CHECK(
      lowered.starts_with("  %1 = param 0\n"
                          "  store x, %1\n"
                          "  %2 = param 1\n"
                          "  %3 = const 0\n"
                          "  store i, %3\n"
                          "  %4 = load i\n"
                          "  %5 = op lt(self=%4, other=%2)\n"
                          "  %6 = op loop_entered(%5)\n"
                          "  branch %6 ? b1 : b4\n"
                          "b1:\n"
                          "  %9 = load x\n"));
  const std::string calls =
      body("int count(); void f(at::Tensor x) { for (int i = 0; i < count(); i++) x = x * x; }", "f");
  CHECK(calls.find("loop_entered") == std::string::npos);
}

TEST_CASE("switch compares case by case and falls through") {
  CHECK(body("int f(const at::ScalarType t) {\n"
             "  switch (t) { case at::kHalf: return 1; case at::kFloat: break; default: return 3; }\n"
             "  return 2;\n"
             "}",
             "f") ==
        "  %1 = param 0\n"
        "  %2 = const float16\n"
        "  %3 = op eq(self=%1, other=%2)\n"
        "  branch %3 ? b1 : b2\n"
        "b1:\n"
        "  %6 = const 1\n"
        "  return %6\n"
        "b2:\n"
        "  %4 = const float32\n"
        "  %5 = op eq(self=%1, other=%4)\n"
        "  branch %5 ? b3 : b5\n"
        "b3:\n"
        "  jump b4\n"
        "b4:\n"
        "  %8 = const 2\n"
        "  return %8\n"
        "b5:\n"
        "  jump b6\n"
        "b6:\n"
        "  %7 = const 3\n"
        "  return %7\n");
}

TEST_CASE("TORCH_CHECK, assert and `if (!ok) throw` are assumptions on the whole condition") {
  CHECK(body("#include <cassert>\n"
             "at::Tensor f(const at::Tensor& x) {\n"
             "  TORCH_CHECK(x.scalar_type() == torch::kHalf && x.dim() == 3, \"bad\");\n"
             "  assert(x.defined());\n"
             "  if (!x.defined()) throw 1;\n"
             "  return x;\n"
             "}",
             "f") ==
        "  %1 = param 0\n"
        "  %2 = dtype_of %1\n"
        "  %3 = const float16\n"
        "  %4 = op eq(self=%2, other=%3)\n"
        "  %5 = op dim(self=%1)\n"
        "  %6 = const 3\n"
        "  %7 = op eq(self=%5, other=%6)\n"
        "  %8 = op logical_and(self=%4, other=%7)\n"
        "  assume %8\n"
        "  %9 = op defined(self=%1)\n"
        "  assume %9\n"
        "  %10 = op defined(self=%1)\n"
        "  assume %10\n"
        "  return %1\n");
}

TEST_CASE("every way out of a scope runs the user's destructors, the newest first") {
  const std::string text = body(
      "struct Guard { Guard(); ~Guard() { at::autocast::set_enabled(true); } };\n"
      "int f(const bool early) { Guard a; if (early) return 1; Guard b; return 2; }",
      "f");
  CHECK(text ==
        "  %1 = param 0\n"
        "  %2 = object Guard()\n"
        "  %3 = call _ZN5GuardC2Ev(%2)\n"
        "  store a, %2\n"
        "  %4 = load a\n"
        "  branch %1 ? b1 : b2\n"
        "b1:\n"
        "  %5 = const 1\n"
        "  %6 = call _ZN5GuardD2Ev(%4)\n"
        "  return %5\n"
        "b2:\n"
        "  jump b3\n"
        "b3:\n"
        "  %7 = object Guard()\n"
        "  %8 = call _ZN5GuardC2Ev(%7)\n"
        "  store b, %7\n"
        "  %9 = load b\n"
        "  %10 = const 2\n"
        "  %11 = call _ZN5GuardD2Ev(%9)\n"
        "  %12 = call _ZN5GuardD2Ev(%4)\n"
        "  return %10\n");
}

TEST_CASE("goto goes where it says") {
  CHECK(body("int f(const bool early) { if (early) goto end; return 1; end: return 2; }", "f") ==
        "  %1 = param 0\n"
        "  branch %1 ? b1 : b3\n"
        "b1:\n"
        "  jump b2\n"
        "b2:\n"
        "  %3 = const 2\n"
        "  return %3\n"
        "b3:\n"
        "  jump b4\n"
        "b4:\n"
        "  %2 = const 1\n"
        "  return %2\n");
}

TEST_CASE("a statement that cannot be lowered is listed") {
  const LoweredSource source = lower_snippet("void f() { void* to = &&here; goto *to; here:; }");
  REQUIRE(source.module.not_lowered.size() == 1);
  CHECK(source.module.not_lowered[0].function == "f");
  CHECK(contains(source.module.not_lowered[0].reason, "IndirectGotoStmt"));
}

}  // namespace
}  // namespace dtype_guard::clang_front_end
