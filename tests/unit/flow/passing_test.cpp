// What a way has passed: an operator that throws, a conversion since a dtype was asked for.
#include <fmt/format.h>

#include "tests/catch.h"
#include "tests/unit/flow/lint_text.h"

namespace dtype_guard::flow {
namespace {
using Found = std::vector<std::string>;

const std::string kWideOrInput = R"IR(  store v, %1
  branch %3 ? b1 : b2
b1:
  %20 = op ones(%10) ; 20:3-20:9 "wide"
  store v, %20
  jump b2
b2:
  %30 = load v
)IR";
const std::string kCall = "  %40 = sink flash(q=%1, k=%1, v=%30) ; 99:3-99:20 \"flash(q, q, v)\"\n";

TEST_CASE("behind an operator a tensor is none of those that it throws for") {
  const std::string product = "  %31 = op linear(%30, %1) ; 31:3-31:9\n";
  CHECK(findings_of_body(kWideOrInput + kCall, "bf16").size() == 1);
  const std::string refused = "31 operator-mixed-dtypes input in f [bf16]";  // by the operator itself
  CHECK(findings_of_body(kWideOrInput + product + kCall, "bf16") == Found{refused});
  const std::string handled = "  %32 = op may_throw()\n  branch %32 ? b3 : b4\nb3:\n  jump b4\nb4:\n";
  CHECK(findings_of_body(kWideOrInput + product + handled + kCall, "bf16").size() == 2);
}

TEST_CASE("what an operator throws for leaves out all that came the way that it came") {
  const auto behind = [](const std::string& operation) {
    return findings_of_body(R"IR(  %11 = const 1
  %12 = const 0
  %13 = const float64
  store v, %1
  branch %3 ? b1 : b2
b1:
  %14 = pack(%5)
  %20 = op ones(%14) ; 20:3-20:9 "wide"
  store v, %20
  jump b2
b2:
  %21 = load v
  %22 = cast %21, %13
)IR" + operation + "  %30 = load v\n" +
                                kCall,
                            "bf16");
  };
  CHECK(behind("").size() == 1);
  CHECK(behind("  %23 = op transpose(%22, %12, %11)\n").empty());
  CHECK(behind("  %23 = op transpose(%22, %12, %12)\n").size() == 1);
}

TEST_CASE("what is computed once has one answer, however often it is asked") {
  const auto behind = [](const std::string& check) {
    return findings_of_body(
        "  %11 = const 0\n  %12 = op size(self=%1, dim=%11)\n  store v, %1\n" +
            std::string("  branch %12 ? b1 : b2\nb1:\n") +
            "  %20 = op ones(%10) ; 20:3-20:9 \"wide\"\n  store v, %20\n  jump b2\nb2:\n" + check +
            "  %30 = load v\n" + kCall,
        "bf16");
  };
  CHECK(behind("").size() == 1);
  CHECK(behind("  %21 = op logical_not(%12)\n  assume %21\n").empty());
  CHECK(behind("  %21 = op size(self=%1, dim=%11)\n  %22 = op logical_not(%21)\n  assume %22\n").empty());
}

TEST_CASE("a module is made half under autocast where the code may have turned that off") {
  const auto called = [](const std::string& before) {
    return findings(
        "function f\n  parameter q: tensor\n  parameter flag: number \"bool\"\nb0:\n"
        "  %1 = param 0\n  %2 = param 1\n" +
            before + R"IR(  %3 = const 2
  %4 = pack(%3, %3)
  %5 = op ones(%4) ; 5:3-5:9 "wide"
  %6 = op ones(%4)
  %7 = object Holder()
  %8 = register parameter "a", %7, %6
  %9 = const bfloat16
  retype %7, %9
  %10 = sink flash(q=%8, k=%8, v=%5) ; 99:3-99:20 "flash(a, a, wide)"
  return
)IR",
        {{"autocast-bf16"}});
  };
  CHECK(called("").empty());
  CHECK(called("  set_autocast cuda(on=%2)\n").size() == 1);
}

TEST_CASE("a tensor that unseen code may have changed is no number") {
  const auto beside = [](const std::string& made) {
    return findings_of_body(R"IR(  %11 = const 0
  %12 = object Holder()
  %13 = register buffer "a", %12, %2
  %14 = call unseen(%12)
)IR" + made + R"IR(  %16 = const float32
  %17 = cast %15, %16
  %18 = op size(self=%17, dim=%11)
  %30 = op mul(self=%1, other=%17) ; 30:3-30:9 "q * a"
)IR" + kCall,
                            "bf16")
        .size();
  };
  CHECK(beside("  %15 = op lt(%13, %11)\n") == 1);
  CHECK(beside("  %15 = op lt(%4, %11)\n") == 0);
}

TEST_CASE("a tensor that was converted has its dtype no longer") {
  const auto asked = [](const std::string& convert) {
    return findings_of_body(R"IR(  %11 = object Holder()
  %12 = register buffer "a", %11, %1
  %13 = dtype_of %1
  %14 = const float32
)IR" + convert + R"IR(  %15 = dtype_of %2
  %16 = op eq(%15, %13)
  branch %16 ? b1 : b2
b1:
  %17 = sink flash(q=%1, k=%1, v=%1) ; 99:3-99:20 "flash(q)"
  jump b2
b2:
)IR",
                            "fp16");
  };
  CHECK(asked("  retype %11, %14\n").size() == 1);
  CHECK(asked("").empty());
}

TEST_CASE("a tensor is no dtype that a comparison could exclude") {
  const auto compared = [](const char* with) {
    return findings_of_body(fmt::format(R"IR(  %11 = op ones(%10) ; 11:3-11:9 "wide"
  %12 = dtype_of %11
  %13 = op ne(%12, {})
  assume %13
  %14 = sink flash(q=%11, k=%11, v=%11) ; 99:3-99:20 "flash(wide)"
)IR",
                                        with),
                            "bf16");
  };
  CHECK(compared("%11").size() == 1);
  CHECK(compared("%12").empty());
}

TEST_CASE("what a check says of one input lets the others be guessed before it as well") {
  const std::string wide = R"IR(  %11 = const float32
  %12 = cast %1, %11 ; 12:3-12:9 "wide"
)IR";
  const std::string call =
      "  %13 = sink rotary(x=%12, cos=%12, sin=%1) ; 13:3-13:9 \"rotary(wide, wide, q)\"\n";
  const std::string asked = "  %14 = dtype_of %2\n  %15 = op eq(%14, %11)\n";
  const std::string check = asked + "  assume %15\n";
  CHECK(findings_of_body(wide + call, "bf16").size() == 1);
  CHECK(findings_of_body(wide + call + check, "bf16").empty());
  CHECK(findings_of_body(wide + check + call, "bf16").empty());
  // A call that takes no float32 at all is broken whatever the input was.
  const std::string refused = "  %13 = sink flash(q=%12, k=%12, v=%12) ; 13:3-13:9 \"flash(wide)\"\n";
  CHECK(findings_of_body(wide + refused + check, "bf16").size() == 1);
  // No run comes to the check that passed the call.
  const std::string opposite = "  branch %3 ? b1 : b2\nb1:\n" + call + "  jump b3\nb2:\n";
  CHECK(findings_of_body(wide + opposite + check + "  jump b3\nb3:\n", "bf16").size() == 1);
  CHECK(findings_of_body(wide + opposite + "  jump b3\nb3:\n" + check, "bf16").empty());
}

TEST_CASE("of a check that two things pass, neither is certain") {
  const auto passed = [](const std::string& condition) {
    return findings_of_body(fmt::format(R"IR(  %11 = const float32
  %12 = const int64
  %13 = dtype_of %1
  %14 = op eq(%13, %11)
  %15 = op eq(%13, %12)
  %16 = op logical_or(%14, %15)
  assume {}
  %17 = sink flash(q=%2, k=%2, v=%1) ; 17:3-17:9 "flash(k, k, q)"
)IR",
                                        condition),
                            "bf16");
  };
  CHECK(passed("%14").size() == 1);
  CHECK(passed("%16").empty());
}

TEST_CASE("where autocast was off another dtype may be set than where it was on") {
  const auto after = [](const std::string& otherwise) {
    return findings_of_body("  branch %4 ? b1 : b2\nb1:\n" + otherwise + R"IR(  jump b3
b2:
  %11 = const true
  %12 = const bfloat16
  set_autocast cuda(on=%11, dtype=%12)
  jump b3
b3:
  %13 = const true
  set_autocast cuda(on=%13)
  %14 = op ones(%10)
  %15 = op matmul(%14, %14) ; 15:3-15:9 "product"
  %16 = sink flash(q=%1, k=%1, v=%15) ; 99:3-99:20 "flash(q, q, product)"
)IR",
                            "fp16");
  };
  CHECK(after("").empty());
  CHECK(after("  %21 = const bfloat16\n  set_autocast cuda(dtype=%21)\n").size() == 1);
}

TEST_CASE("a cast of a tensor to the dtype that it has leaves in doubt what was") {
  const auto beside = [](const std::string& cast, const char* operand) {
    return findings_of_body(fmt::format(R"IR(  %11 = call any_tensor(%2)
  %12 = sink sdpa(q=%11, k=%11, v=%11)
  %13 = op ones(%10) ; 13:3-13:9 "wide"
{}  %17 = sink flash(q={}, k={}, v=%13) ; 99:3-99:20 "flash(q, k, wide)"
)IR",
                                        cast, operand, operand),
                            "autocast-bf16");
  };
  const std::string own = "  %14 = dtype_of %12\n  %15 = cast %12, %14\n";
  CHECK(beside(own, "%15") == beside("", "%12"));
  CHECK(beside("  %14 = dtype_of %1\n  %15 = cast %12, %14\n", "%15").size() == 1);
}
}  // namespace
}  // namespace dtype_guard::flow
