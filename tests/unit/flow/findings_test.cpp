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

}  // namespace
}  // namespace dtype_guard::flow
