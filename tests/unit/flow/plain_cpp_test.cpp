// The same mistakes without a framework: typed buffers, implicit conversions and tensor descriptors.
#include "tests/catch.h"
#include "tests/unit/flow/lint_text.h"

namespace dtype_guard::flow {
namespace {
using Found = std::vector<std::string>;

// q (half) times a float is stored in a buffer of `element`, which a descriptor of that dtype hands on.
std::string product(const std::string& element, const std::string& descriptor) {
  return R"IR(
function main main
  variables q, scaled, tensor
b0:
  %1 = const float16
  %2 = const float32
  %3 = const )IR" +
         element + R"IR(
  %4 = const )IR" +
         descriptor + R"IR(
  %5 = alloc "std::vector"(dtype=%1)
  store q, %5
  %6 = alloc "std::vector"(dtype=%2)
  %7 = alloc "std::vector"(dtype=%3)
  store scaled, %7
  %10 = load q[*]
  %11 = load %6[*]
  %12 = implicit cast %10, %2 ; 28:17-28:21 "q[i]"
  %13 = op mul(%12, %11) ; 28:17-28:40 "q[i] * scale"
  %14 = cast %13, %3
  %15 = load scaled
  write %15, %14 ; 28:5-28:40 "scaled[i] = q[i] * scale"
  %20 = object DLTensor()
  store %20.dtype, %4
  %21 = load scaled
  store %20.data, %21
  store tensor, %20
  %22 = object DLTensor()
  store %22.dtype, %1
  store %22.data, %5
  %23 = address tensor
  %24 = const none
  %25 = sink flash(q=%23, k=%22, v=%22, out=%22, lse=%24) ; 50:7-50:60
  return
)IR";
}

TEST_CASE("a half value widened by the language reaches the call through a float buffer") {
  const AnalysisResult result = lint(product("float32", "float32"), {{"bf16"}});
  CHECK(summary(result) == Found{"28 attention-implicit-promotion q in main [bf16]"});
  REQUIRE(result.findings.size() == 1);
  CHECK(result.findings[0].message ==
        "'q' of 'flash' is 'float32', promoted from 'float16' by an implicit conversion; the call accepts "
        "'float16' or "
        "'bfloat16'; round back to 'float16' where it is stored");
  REQUIRE(result.findings[0].path.size() == 4);
  CHECK(result.findings[0].path[2].op == "store");
  CHECK(result.findings[0].operands.size() == 4);  // lse is absent
}

std::string written(std::string text) {
  text.erase(text.find("implicit cast"), std::string("implicit ").size());
  return text;
}

TEST_CASE("an explicit conversion is found at the same place, by the rule for explicit ones") {
  const AnalysisResult result = lint(written(product("float32", "float32")), {{"bf16"}});
  CHECK(summary(result) == Found{"28 attention-mixed-dtypes q in main [bf16]"});
  REQUIRE(result.findings.size() == 1);
  CHECK(result.findings[0].message ==
        "'q' of 'flash' is 'float32', converted from 'float16' by an explicit conversion; the call accepts "
        "'float16' or 'bfloat16'; round back to 'float16' where it is stored");
  CHECK(findings(written(product("float16", "float16")), all_settings()).empty());
}

TEST_CASE("the type of a number counts where its value is unknown") {
  std::string text = product("float32", "float32");
  text.replace(text.find("%10 = load q[*]"), std::string("%10 = load q[*]").size(), "%10 = const unknown");
  CHECK(findings(text, {{"bf16"}}) != Found{"28 attention-implicit-promotion q in main [bf16]"});
  text.insert(text.find("cast %10, %2") + std::string("cast %10, %2").size(), ", from=%1");
  CHECK(findings(text, {{"bf16"}}) == Found{"28 attention-implicit-promotion q in main [bf16]"});
}

TEST_CASE("of a half that becomes a float and then a double, the first conversion is the origin") {
  std::string text = product("float64", "float64");
  CHECK(findings(text, {{"bf16"}}) == Found{"28 attention-implicit-promotion q in main [bf16]"});
}

TEST_CASE("a buffer that a loop fills is one finding, at what fills it") {
  std::string text = product("float32", "float32");
  text.replace(text.find("  %10 = load q"), 0,
               "  jump b1\nb1:\n  %90 = const unknown\n  branch %90 ? b2 : b3\nb2:\n");
  text.replace(text.find("  %20 = object"), 0, "  jump b1\nb3:\n");
  CHECK(findings(text, {{"bf16"}}) == Found{"28 attention-implicit-promotion q in main [bf16]"});
}

TEST_CASE("rounding back where it is stored is clean") {
  CHECK(findings(product("float16", "float16"), all_settings()).empty());
}

TEST_CASE("what has no dimensions is behind no descriptor") {
  const auto described = [](const std::string& shape) {
    return "function f\n  parameter x: tensor\n  parameter wide: number \"bool\"\n  variables made\n"
           "b0:\n  %1 = param 0\n  %2 = param 1\n  %3 = const 2\n  branch %2 ? b1 : b2\n"
           "b1:\n  %4 = pack(" +
           shape +
           ")\n  %5 = op ones(%4) ; 5:3-5:9\n  store made, %5\n  jump b3\n"
           "b2:\n  %6 = pack(%3)\n  %7 = op ones(%6)\n  %8 = op mul(%1, %7) ; 7:3-7:9\n"
           "  store made, %8\n  jump b3\n"
           "b3:\n  %9 = object DLTensor()\n  %10 = load made\n  store %9.data, %10\n"
           "  %11 = const float32\n  store %9.dtype, %11\n  %12 = sink flash(q=%9, k=%1, v=%1)\n  return\n";
  };
  const std::string promoted = "7 attention-implicit-promotion q in f [fp16]";
  CHECK(findings(described(""), {{"fp16"}}) == Found{promoted});
  CHECK(findings(described("%3"), {{"fp16"}}).size() == 2);
}

TEST_CASE("DLPack handles of a tensor pass its dtype through") {
  const auto view = [](const std::string& tensor) {
    return attention_main("  %9 = op ones(%101)\n  %10 = op toDLPack(" + tensor +
                              ")\n  %11 = object DlpackView()\n"
                              "  store %11.managed_, %10\n  %12 = address %11.managed_.dl_tensor\n",
                          "%12", "%2", "%3");
  };
  CHECK(findings(view("%9")).size() == 1);
  CHECK(findings(view("%1")).empty());
}

}  // namespace
}  // namespace dtype_guard::flow
