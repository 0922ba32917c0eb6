// What becomes of defects: merging, precedence, sinks, fingerprints.
#include "tests/catch.h"
#include "tests/unit/flow/lint_text.h"

namespace dtype_guard::flow {
namespace {
using Found = std::vector<std::string>;
const LintOptions kBf16{{"bf16"}};

TEST_CASE("one instruction that reaches several operands is one finding with all of them") {
  const std::string body =
      "  %10 = op ones(%101)\n  %11 = op mul(%1, %10) ; 7:3-7:9 \"x * w\"\n"
      "  %12 = sink flash(q=%11, k=%11, v=%3) ; 8:3-8:9\n";
  const AnalysisResult result = lint(attention_main(body, "%11", "%2", "%3"), kBf16);
  CHECK(summary(result) == Found{"7 attention-implicit-promotion k,q,q in main [bf16]"});
}

TEST_CASE("q and k that were widened alike both differ from v: mending one would not mend the call") {
  const std::string body =
      "  %10 = op ones(%101)\n  %11 = op mul(%1, %10) ; 7:3-7:9 \"q * w\"\n"
      "  %12 = op mul(%2, %10) ; 8:3-8:9 \"k * w\"\n  %13 = sink at::sdpa(q=%11, k=%12, v=%3) ; 9:3-9:9\n";
  CHECK(findings(attention_main(body, "%1", "%2", "%3"), kBf16) ==
        Found{"7 attention-implicit-promotion q in main [bf16]",
              "8 attention-implicit-promotion k in main [bf16]"});
}

TEST_CASE("operators on one line whose result is one expression are one finding") {
  const std::string nested =
      "  %10 = op ones(%101)\n  %20 = const unknown\n  branch %20 ? b1 : b2\n"
      "b1:\n  %11 = op mul(%1, %10) ; 7:3-7:9 \"x * w\"\n  store a, %11\n  jump b3\n"
      "b2:\n  %12 = op mul(%2, %10) ; 7:3-7:19 \"(x * w) * w\"\n  store a, %12\n  jump b3\nb3:\n  %13 = load "
      "a\n";
  CHECK(findings(attention_main(nested, "%13", "%2", "%3"), kBf16).size() == 1);
  std::string apart = nested;
  apart.replace(apart.find("7:3-7:19"), 8, "7:23-7:39");
  CHECK(findings(attention_main(apart, "%13", "%2", "%3"), kBf16).size() == 2);
}

TEST_CASE("the first thing that widened is the place to edit, whatever widened again") {
  const std::string body =
      "  %10 = op ones(%101)\n  %11 = op mul(%1, %10) ; 7:3-7:9\n  %12 = op add(%11, %2) ; 8:3-8:9\n"
      "  %13 = op matmul(%12, %10) ; 9:3-9:9\n";
  const AnalysisResult result = lint(attention_main(body, "%13", "%2", "%3"), kBf16);
  CHECK(summary(result) == Found{"7 attention-implicit-promotion q in main [bf16]"});
  REQUIRE(result.findings.size() == 1);
  CHECK(result.findings[0].path.size() == 4);
}

TEST_CASE("a fingerprint survives other lines and settings, and tells expressions apart") {
  const auto print_of = [](const std::string& at, const std::string& text, const LintOptions& options) {
    const AnalysisResult result =
        lint(attention_main("  %10 = op ones(%101)\n  %11 = op mul(%1, %10) ; " + at + " \"" + text + "\"\n",
                            "%11", "%2", "%3"),
             options);
    REQUIRE(result.findings.size() == 1);
    return result.findings[0].fingerprint;
  };
  const std::string one = print_of("7:3-7:9", "q * w", kBf16);
  CHECK(print_of("70:5-70:11", "q*w", {{"fp16"}}) == one);
  CHECK(print_of("7:3-7:9", "q * u", kBf16) != one);
}

TEST_CASE("a float32 table made by the program breaks a rotary call that wants equal dtypes") {
  const std::string body =
      "  %10 = op ones(%101) ; 7:3-7:9 \"ones\"\n  %11 = sink rotary(x=%1, cos=%10, sin=%10) ; 8:3-8:9\n";
  const AnalysisResult result = lint(attention_main(body, "%1", "%2", "%3"), kBf16);
  CHECK(summary(result) == Found{"7 rotary-dtype-mismatch cos,sin in main [bf16]"});
  REQUIRE(result.findings.size() == 1);
  CHECK(result.findings[0].also_rules == std::vector<std::string>{"attention-mixed-dtypes"});
}

TEST_CASE("a float32 mask is the mask's own rule") {
  const std::string body =
      "  %10 = op ones(%101) ; 7:3-7:9\n  %11 = sink at::sdpa(q=%1, k=%2, v=%3, mask=%10)\n";
  CHECK(findings(attention_main(body, "%1", "%2", "%3"), kBf16) ==
        Found{"7 attention-mask-dtype mask in main [bf16]"});
}

TEST_CASE("a complex number is as wide as its parts were made, and so are its parts") {
  const std::string body =
      "  %11 = op to(self=%1, dtype=%103) ; 5:1-5:9 \"q.to(d)\"\n"
      "  %12 = op view_as_complex(self=%11) ; 6:1-6:9\n"
      "  %13 = op mul(self=%12, other=%12) ; 7:1-7:9\n"
      "  %14 = op view_as_real(self=%13) ; 8:1-8:9\n";
  const AnalysisResult result = lint(attention_main(body, "%14", "%2", "%3"), kBf16);
  REQUIRE(result.findings.size() == 1);
  CHECK(result.findings[0].location.line == 5);
  CHECK(result.findings[0].message ==
        "'q' of 'flash' is 'float32', cast from 'bfloat16' by 'to'; the call accepts 'float16' or "
        "'bfloat16'; cast 'q' back to 'bfloat16' before the call");
  CHECK(findings(attention_main(body + "  %15 = op to(self=%14, dtype=%102)\n", "%15", "%2", "%3"), kBf16)
            .empty());
}

TEST_CASE("the example of a cure names what the operator was given, not what it was made from") {
  const auto message = [](const std::string& modules) {
    const std::string text =
        "method M::forward of M module\n  parameter x: tensor\nb0:\n"
        "  %1 = param 1 ; 1:1-1:2 tensor \"x\"\n  %2 = module torch::nn::Sequential()\n" +
        modules +
        "  %9 = op torch::nn::Sequential::forward(%2, %1) ; 5:1-5:9 tensor \"s(x)\"\n"
        "  %10 = module torch::nn::Linear()\n  %11 = op torch::nn::Linear::forward(%10, %1)\n"
        "  %12 = sink flash(q=%9, k=%11, v=%11) ; 9:3-9:20\n  return %12\n";
    const AnalysisResult result = lint(text, {{"autocast-bf16"}});
    REQUIRE(result.findings.size() == 1);
    return result.findings[0].message.substr(result.findings[0].message.rfind(';'));
  };
  const std::string linear = "  %3 = module torch::nn::Linear()\n  store %2[+], %3\n";
  const std::string norm = "  %4 = module torch::nn::LayerNorm()\n  store %2[+], %4\n";
  CHECK(message(linear + norm) == "; cast what 's(x)' gives back to 'bfloat16'");
  CHECK(message(norm) == "; cast back after it, e.g. '.to(x.scalar_type())'");
}

TEST_CASE("the example of a cure names a tensor, no list") {
  const auto message = [](const std::string& operation) {
    const AnalysisResult result =
        lint(attention_main("  %10 = op randn(%101, dtype=%103)\n  %11 = pack(%1, %10)\n  store a, %11\n"
                            "  %12 = load a ; 4:7-4:8 \"l\"\n" +
                                operation + " ; 5:1-5:9 tensor\n",
                            "%13", "%2", "%3"),
             {{"bf16"}});
    REQUIRE(result.findings.size() == 1);
    return result.findings[0].message.substr(result.findings[0].message.rfind(';'));
  };
  CHECK(message("  %13 = op cat(%12)") == "; cast the result of 'cat' back to 'bfloat16'");
  CHECK(message("  %13 = op mul(self=%1, other=%10)") == "; cast back after it, e.g. '.to(q.scalar_type())'");
}

}  // namespace
}  // namespace dtype_guard::flow
