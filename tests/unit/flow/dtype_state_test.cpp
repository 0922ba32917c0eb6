// Autocast and default dtype follow the program; ranks decide what promotes; a call that recasts is left
// alone.
#include "tests/catch.h"
#include "tests/unit/flow/lint_text.h"

namespace dtype_guard::flow {
namespace {
using Found = std::vector<std::string>;

std::vector<std::string> q_of(const std::string& body, const LintOptions& options = {{"bf16"}}) {
  return findings(attention_main(body, "%50", "%2", "%3"), options);
}
const std::string kOn = "  %10 = const true\n  set_autocast cuda(on=%10, dtype=%102)\n";
const std::string kNorm = "  %50 = op normalize(%1) ; 7:3-7:20 \"normalize(q)\"\n";

TEST_CASE("autocast counts from where the program turns it on") {
  CHECK(q_of(kNorm).empty());
  CHECK(q_of(kOn + kNorm) == Found{"7 autocast-fp32-operator q in main [bf16]"});
  CHECK(q_of(kNorm + kOn).empty());
  CHECK(q_of("  %10 = const true\n  set_autocast cpu(on=%10)\n" + kNorm).empty());
  CHECK(q_of(kOn + "  %11 = const false\n  set_autocast cuda(on=%11)\n" + kNorm).empty());
}

TEST_CASE("saved state comes back") {
  CHECK(q_of("  %9 = save_state\n" + kOn + "  restore_state %9\n" + kNorm).empty());
  CHECK(q_of(kOn +
             "  %9 = save_state\n  %11 = const false\n  set_autocast cuda(on=%11)\n  restore_state %9\n" +
             kNorm)
            .size() == 1);
}

TEST_CASE("rms_norm is listed since torch 2.12") {
  CHECK(q_of(kOn + "  %50 = op rms_norm(%1, %101)\n").size() == 1);
}

TEST_CASE("the default dtype decides what a factory makes") {
  const std::string product = "  %11 = op ones(%101)\n  %50 = op mul(%1, %11)\n";
  CHECK(q_of(product).size() == 1);
  CHECK(q_of("  set_default_dtype %102\n" + product).empty());
  CHECK(q_of("  %10 = options()\n  %11 = op ones(%101, %10)\n  %50 = op mul(%1, %11)\n").size() == 1);
  CHECK(q_of("  %10 = options(dtype=%102)\n  %11 = op ones(%101, %10)\n  %50 = op mul(%1, %11)\n").empty());
}

TEST_CASE("only a tensor with dimensions promotes") {
  CHECK(q_of("  %10 = pack()\n  %11 = op ones(%10)\n  %50 = op mul(%1, %11)\n").empty());
  CHECK(q_of("  %11 = const 2.0\n  %50 = op mul(%1, %11)\n").empty());
  CHECK(q_of("  %11 = op ones(%101)\n  %12 = op select(%11, %100, %100)\n  %50 = op mul(%1, %12)\n").size() ==
        1);
  CHECK(q_of("  %11 = op ones(%101)\n  %12 = op sum(%11)\n  %50 = op mul(%1, %12)\n").empty());
  CHECK(q_of("  %11 = op ones(%101)\n  %50 = op mul_(%1, %11)\n").empty());
  CHECK(q_of("  %11 = op ones(%101)\n  %12 = pack(%1, %11)\n  %50 = op cat(%12)\n").size() == 1);
}

TEST_CASE("a rank that is not known makes no definite finding") {
  const std::string program =
      "\nfunction f\n  parameter q: tensor\n  parameter s: tensor\nb0:\n  %1 = param 0\n  %2 = param 1\n"
      "  %3 = const float32\n  %4 = cast %2, %3\n  %5 = op view(%1, %6)\n  %6 = const unknown\n  %7 = op "
      "mul(%5, %4)\n"
      "  %8 = sink flash(q=%7, k=%1, v=%1)\n  return\n";
  CHECK(findings(program, {{"bf16"}}).empty());
  LintOptions strict{{"bf16"}};
  strict.strict = true;
  CHECK(findings(program, strict).size() == 1);
}

TEST_CASE("a reduction that keeps its dimensions keeps the rank") {
  const auto divided = [](const std::string& keepdim) {
    return q_of(
        kOn + "  %40 = const -1\n  %41 = const " + keepdim +
        "\n  %12 = op linear(%1, %2)\n  %13 = op norm(%12, %100, %40, %41)\n  %50 = op div(%12, %13)\n");
  };
  CHECK(divided("true").size() == 1);
  CHECK(divided("false").empty());  // one dimension may have been all
}

TEST_CASE("a call that autocast recasts is left alone, and only under autocast") {
  const std::string sdpa = "  %60 = sink at::sdpa(q=%50, k=%2, v=%3) ; 9:3-9:20\n";
  const std::string wide = "  %11 = op ones(%101)\n  %50 = op mul(%1, %11) ; 8:3-8:9\n";
  const auto program = [&](const std::string& before) {
    return attention_main(before + wide + sdpa, "%1", "%2", "%3");
  };
  CHECK(findings(program(""), {{"bf16"}}) == Found{"8 attention-implicit-promotion q in main [bf16]"});
  CHECK(findings(program(kOn), {{"bf16"}}).empty());
  LintOptions mps{{"bf16"}};
  mps.device = "mps";
  CHECK(findings(program("  %10 = const true\n  set_autocast mps(on=%10, dtype=%102)\n"), mps).size() == 1);
}

TEST_CASE("an explicit cast back after the arithmetic is the cure") {
  const std::string wide = "  %10 = cast %1, %103\n  %11 = op ones(%101)\n  %12 = op mul(%10, %11)\n";
  CHECK(q_of(wide + "  %13 = dtype_of %1\n  %50 = cast %12, %13\n").empty());
  CHECK(q_of(wide + "  %50 = op type_as(%12, %1)\n").empty());
  CHECK(q_of(wide + "  %50 = copy %12\n").size() == 1);
}

TEST_CASE("what hangs on no default dtype is known where that is not") {
  const std::string open = "  %10 = const unknown\n  set_default_dtype %10\n";
  CHECK(q_of(open + "  %11 = op ones(%101, dtype=%103)\n  %50 = op mul(%1, %11)\n").size() == 1);
  CHECK(q_of(open + "  %11 = op ones(%101)\n  %50 = op mul(%1, %11)\n").empty());
}

TEST_CASE("float32 throughout is silent unless the user named the setting") {
  const std::string program =
      "\nfunction f\n  parameter q: tensor\nb0:\n  %1 = param 0\n"
      "  %2 = sink flash(q=%1, k=%1, v=%1) ; 5:1-5:9\n  return\n";
  LintOptions fp32{{"fp32"}};
  CHECK(findings(program, fp32).empty());
  fp32.named = true;
  CHECK(findings(program, fp32) == Found{"5 attention-unsupported-dtype k,q,v in f [fp32]"});
}

}  // namespace
}  // namespace dtype_guard::flow
