// Branches, facts, loops and checks.
#include "tests/catch.h"
#include "tests/unit/flow/lint_text.h"

namespace dtype_guard::flow {
namespace {
using Found = std::vector<std::string>;
const LintOptions kBf16{{"bf16"}};

// forward(q, k, v, flag, other): `first` is the condition of the promotion, `second` that of the call.
std::string two_branches(const std::string& first, const std::string& second) {
  return R"IR(
function f
  parameter q: tensor
  parameter k: tensor
  parameter flag: number "bool"
  parameter other: number "bool"
  variables q
b0:
  %1 = param 0 ; "q"
  %2 = param 1
  %3 = param 2
  %4 = param 3
  %5 = op logical_not(%3)
  %6 = const true
  store q, %1
  branch )IR" +
         first + R"IR( ? b1 : b2
b1:
  %10 = const 8
  %11 = pack(%10)
  %12 = op ones(%11)
  %13 = op mul(%1, %12) ; 10:3-10:9 "q * w"
  store q, %13
  jump b2
b2:
  branch )IR" +
         second + R"IR( ? b3 : b4
b3:
  %20 = load q
  %21 = sink flash(q=%20, k=%2, v=%2) ; 20:3-20:20
  jump b4
b4:
  return
)IR";
}

TEST_CASE("a promotion on one feasible path is a finding") {
  CHECK(findings(two_branches("%3", "%6"), kBf16) == Found{"10 attention-implicit-promotion q in f [bf16]"});
  CHECK(findings(two_branches("%3", "%4"), kBf16) == Found{"10 attention-implicit-promotion q in f [bf16]"});
}

TEST_CASE("promotion and call under opposite conditions never meet") {
  CHECK(findings(two_branches("%3", "%5"), kBf16).empty());
}

TEST_CASE("paths that a flag excludes make no possible finding either") {
  LintOptions strict = kBf16;
  strict.strict = true;
  CHECK(findings(two_branches("%3", "%5"), strict).empty());
  CHECK(findings(two_branches("%3", "%3"), strict).size() == 1);

  // q = flag ? wide : q; q = flag ? half : q, and a product of what came under one flag.
  const auto twice = [](const std::string& made, const std::string& second) {
    return R"IR(
function f
  parameter q: tensor
  parameter k: tensor
  parameter flag: number "bool"
  variables a, b
b0:
  %1 = param 0 ; "q"
  %2 = param 1
  %3 = param 2
  %4 = const 8
  %5 = pack(%4)
  %6 = const bfloat16
  store a, %1
  store b, %2
  branch %3 ? b1 : b2
b1:
  %10 = op ones(%5)
  %11 = op mul(%1, %10) ; 10:3-10:9 "q * w"
  store a, %11
  store b, %11
  jump b2
b2:
  %12 = load a
  %13 = load b
  )IR" + made +
           R"IR(
  branch %3 ? b3 : b4
b3:
  %20 = op to(self=%14, dtype=%6)
  store a, %20
  jump b4
b4:
  )IR" + second +
           R"IR(
  %21 = load a
  %22 = sink flash(q=%21, k=%2, v=%2) ; 20:3-20:20
  return
)IR";
  };
  const std::string keep = "%14 = copy %12\n  store a, %14",
                    product = "%14 = op mul(%12, %13)\n  store a, %14";
  CHECK(findings(twice(keep, ""), strict).empty());
  CHECK(findings(twice(product, ""), strict).empty());
  CHECK(findings(twice(product, "store a, %14"), strict).size() == 1);
}

// `if (n < 4) return; if (n > 5) ...`, each with its condition or the opposite of that.
TEST_CASE("it makes no difference which way a condition is spelt") {
  const auto asked = [](bool is_opposite, bool is_taken) {
    const std::string first = is_opposite ? "%20 ? b2 : b1" : "%12 ? b1 : b2";
    std::string second = is_opposite ? "%21 ? b4 : b3" : "%13 ? b3 : b4";
    if (!is_taken) second = is_opposite ? "%21 ? b3 : b4" : "%13 ? b4 : b3";
    return findings_of_body(
        "  %11 = const 4\n  %12 = op lt(%4, %11)\n  %13 = op gt(%4, %5)\n"
        "  %20 = op logical_not(%12)\n  %21 = op logical_not(%13)\n  store v, %1\n  branch " +
            first + "\nb1:\n  return\nb2:\n  branch " + second +
            "\nb3:\n  %14 = op ones(%10)\n  %15 = op mul(%1, %14) ; 15:3-15:9 \"wide\"\n"
            "  store v, %15\n  jump b4\nb4:\n  %30 = load v\n"
            "  %31 = sink flash(q=%30, k=%2, v=%2) ; 99:3-99:20 \"flash(v)\"\n",
        "bf16");
  };
  for (const bool is_opposite : {false, true}) {
    CHECK(asked(is_opposite, true).empty());  // the first question may have decided against it
    CHECK(asked(is_opposite, false) == Found{"15 attention-implicit-promotion q in f [bf16]"});
  }
}

TEST_CASE("a dtype that a branch excludes does not reach the call") {
  const std::string guarded = R"IR(
function f
  parameter q: tensor
  parameter k: tensor
  parameter flag: number "bool"
  variables q
b0:
  %1 = param 0
  %2 = param 1
  %3 = param 2
  store q, %1
  branch %3 ? b1 : b2
b1:
  %10 = const 8
  %11 = pack(%10)
  %12 = op ones(%11)
  %13 = op mul(%1, %12)
  store q, %13
  jump b2
b2:
  %14 = load q
  %15 = dtype_of %14
  %16 = const float32
  %17 = op ne(%15, %16)
  GUARD
b3:
  %20 = load q
  %21 = sink flash(q=%20, k=%2, v=%2)
  jump b4
b4:
  return
)IR";
  const auto with = [&](const std::string& guard) {
    std::string text = guarded;
    return text.replace(text.find("GUARD"), 5, guard);
  };
  CHECK(findings(with("branch %17 ? b3 : b4"), kBf16).empty());
  CHECK(findings(with("assume %17\n  jump b3"), kBf16).empty());
  CHECK(findings(with("%18 = op logical_and(%17, %3)\n  branch %18 ? b3 : b4"), kBf16).empty());
  CHECK(findings(with("%18 = op logical_not(%17)\n  branch %18 ? b4 : b3"), kBf16).empty());
  CHECK(findings(with("jump b3"), kBf16).size() == 1);
  // A guard that tests another value proves nothing about q.
  CHECK(findings(with("%18 = dtype_of %2\n  %19 = op ne(%18, %16)\n  branch %19 ? b3 : b4"), kBf16).size() ==
        1);
}

TEST_CASE("an element of an undefined tensor has no dtype, in particular not the index's") {
  const std::string text = R"IR(
function f
  parameter q: tensor
  parameter flag: number "bool"
  variables x
b0:
  %1 = param 0
  %2 = param 1
  %3 = const none
  store x, %3
  branch %2 ? b1 : b2
b1:
  store x, %1
  jump b2
b2:
  %4 = load x
  %5 = const int64
  %6 = alloc number(dtype=%5)
  %7 = load %6[*]
  %8 = op select(self=%4, index=%7)
  %9 = sink flash(q=%1, k=%8, v=%1)
  return
)IR";
  CHECK(findings(text, kBf16) == Found{});
}

TEST_CASE("what stands behind the end of a block is not run") {
  const std::string text =
      "  store a, %1\n  jump b1\n  %10 = op ones(%101)\n  store a, %10\n  return\nb1:\n  %11 = load a\n";
  CHECK(findings(attention_main(text, "%11", "%2", "%3")).empty());
}

TEST_CASE("a constant condition takes one way") {
  const std::string never =
      "  %10 = const false\n  branch %10 ? b1 : b2\nb1:\n  %11 = op ones(%101)\n  %12 = op mul(%1, %11)\n"
      "  store a, %12\n  jump b2\nb2:\n  %13 = load a\n";
  CHECK(findings(attention_main("  store a, %1\n" + never, "%13", "%2", "%3")).empty());
}

// The tensor is widened where a value of this operator is true.
std::string widened_if(const std::string& condition) {
  return attention_main("  store a, %1\n" + condition +
                            "  branch %12 ? b1 : b2\nb1:\n  %15 = op ones(%101)\n  %16 = op mul(%1, %15)\n"
                            "  store a, %16\n  jump b2\nb2:\n  %17 = load a\n",
                        "%17", "%2", "%3");
}

TEST_CASE("a loop is taken to run unless its condition is known to be false") {
  const auto entered = [](const std::string& condition) {
    return findings(widened_if("  %10 = const " + condition + "\n  %12 = op loop_entered(%10)\n"));
  };
  CHECK(entered("false").empty());
  CHECK(entered("true").size() == 1);
  CHECK(entered("unknown").size() == 1);
}

TEST_CASE("strings are compared as strcmp does") {
  const auto compared = [](const std::string& text, const std::string& name, const std::string& number) {
    return findings(widened_if("  %7 = const " + text + "\n  %8 = const \"wide\"\n" +
                               "  %9 = op text_order(self=%7, other=%8)\n  %10 = const " + number +
                               "\n  %12 = op " + name + "(self=%9, other=%10)\n"));
  };
  CHECK(compared("\"narrow\"", "eq", "0").empty());
  CHECK(compared("\"wide\"", "ne", "0").empty());
  CHECK(compared("\"wide\"", "eq", "0").size() == 1);
  CHECK(compared("\"narrow\"", "ne", "0").size() == 1);
  CHECK(compared("\"narrow\"", "lt", "0").size() == 1);  // which of the two is first is not known
  CHECK(compared("unknown", "eq", "0").size() == 1);
}

TEST_CASE("a clamped number stays between the constants of the clamp") {
  const auto clamped = [](const std::string& name, const std::string& number) {
    return findings(
        widened_if("  %4 = const unknown\n  %5 = const 1\n  %6 = const 3\n"
                   "  %7 = op larger_of(self=%4, other=%5)\n"
                   "  %8 = op smaller_of(self=%7, other=%6)\n  store x, %8\n  %9 = load x\n"
                   "  %10 = const " +
                   number + "\n  %12 = op " + name + "(self=%9, other=%10)\n"));
  };
  for (const auto& [name, number] : std::vector<std::pair<std::string, std::string>>{
           {"gt", "3"}, {"ge", "4"}, {"lt", "1"}, {"le", "0"}, {"eq", "0"}, {"eq", "4"}}) {
    INFO(name << ' ' << number);
    CHECK(clamped(name, number).empty());
  }
  for (const auto& [name, number] : std::vector<std::pair<std::string, std::string>>{
           {"gt", "2"}, {"ge", "3"}, {"lt", "2"}, {"le", "1"}, {"eq", "2"}, {"ne", "4"}}) {
    INFO(name << ' ' << number);
    CHECK(clamped(name, number).size() == 1);
  }
}

TEST_CASE("what a loop widens reaches the call after it, and the fixed point is found") {
  const std::string loop = R"IR(  store a, %1
  jump b1
b1:
  %10 = const unknown
  branch %10 ? b2 : b3
b2:
  %11 = load a ; "q"
  %12 = op ones(%101)
  %13 = op mul(%11, %12) ; 30:3-30:12 "q * w"
  %14 = op unsqueeze(%13, %100)
  store a, %14
  jump b1
b3:
  %15 = load a
)IR";
  CHECK(findings(attention_main(loop, "%15", "%2", "%3")).size() == 1);
}

TEST_CASE("what is half on another path is no evidence against a wide operand") {
  const auto wrapper = [](const std::string& other) {
    return "\nfunction wrapper\n  parameter wide: number \"bool\"\n  variables a, c\nb0:\n  %1 = param 0\n"
           "  %2 = const 2\n  %3 = pack(%2, %2)\n  %4 = const float16\n  %5 = const float32\n"
           "  branch %1 ? b1 : b2\nb1:\n  %6 = op randn(%3, dtype=%5) ; 3:1-3:9\n  store a, %6\n  store c, "
           "%6\n"
           "  jump b3\nb2:\n  %7 = op randn(%3, dtype=%4)\n  store a, %7\n  store c, %7\n  jump b3\nb3:\n" +
           other + "  %10 = load a\n  %11 = load c\n  %12 = sink flash(q=%10, k=%11, v=%11)\n  return\n";
  };
  CHECK(findings(wrapper("")).empty());
  CHECK(findings(wrapper("  %8 = op randn(%3, dtype=%4)\n  store c, %8\n")).size() == 1);
}

TEST_CASE("a cast to a known dtype makes an unknown value known") {
  const auto of_either = [](const std::string& dtype) {
    return findings(
        attention_main("  %10 = op ones(%101)\n  %11 = pack(%1, %10)\n  %12 = load %11[*]\n"
                       "  %13 = op to(self=%12, dtype=" +
                           dtype + ") ; 7:3-7:9\n",
                       "%13", "%2", "%3"));
  };
  CHECK(!of_either("%103").empty());
  CHECK(of_either("%102").empty());
}

TEST_CASE("a path that throws reaches no call") {
  const std::string thrown =
      "  %10 = const unknown\n  branch %10 ? b1 : b2\nb1:\n  %11 = op ones(%101)\n"
      "  %12 = op mul(%1, %11)\n  store a, %12\n  unreachable\nb2:\n  store a, %1\n  %13 = load a\n";
  CHECK(findings(attention_main(thrown, "%13", "%2", "%3")).empty());
}

TEST_CASE("a conditional expression has the values of both arms") {
  const std::string phi =
      "  %10 = const unknown\n  branch %10 ? b1 : b2\nb1:\n  %11 = op ones(%101)\n"
      "  %12 = op mul(%1, %11) ; 40:1-40:9\n  jump b3\nb2:\n  %13 = copy %1\n  jump b3\nb3:\n  %14 = phi "
      "%12, %13\n";
  CHECK(findings(attention_main(phi, "%14", "%2", "%3")).size() == 1);
}

TEST_CASE("a dtype that two tensors may have given says nothing of one of them") {
  const auto checked = [](const std::string& question) {
    return "\nfunction f\n  parameter q: tensor\n  parameter other: number \"bool\"\nb0:\n  %1 = param 0\n"
           "  %2 = param 1\n  %3 = const 2\n  %4 = pack(%3, %3)\n  %5 = op full(%4, %3)\n"
           "  branch %2 ? b1 : b2\nb1:\n  %6 = dtype_of %5\n  jump b3\nb2:\n  %7 = const bfloat16\n"
           "  jump b3\nb3:\n  %8 = phi %6, %7\n  %9 = dtype_of %1\n  %10 = op " +
           question +
           "(%9, %8)\n  branch %10 ? b4 : b5\nb4:\n  %11 = op ones(%4)\n  %12 = op mul(%1, %11)\n"
           "  %13 = sink flash(q=%12, k=%1, v=%1)\n  return\nb5:\n  return\n";
  };
  CHECK(findings(checked("eq"), {{"bf16"}}).size() == 1);
}

TEST_CASE("what is stored in one of several lists may be in none of them") {
  const auto read = [](const std::string& target, const std::string& from) {
    return findings(
               "\nfunction f\n  parameter a: tensor_list\n  parameter b: tensor_list\n"
               "  parameter second: number \"bool\"\n  parameter q: tensor\nb0:\n  %1 = param 0\n  %2 = "
               "param 1\n"
               "  %3 = param 2\n  %4 = const 2\n  %5 = pack(%4, %4)\n  branch %3 ? b1 : b2\nb1:\n"
               "  %6 = copy %1\n  jump b3\nb2:\n  %7 = copy %2\n  jump b3\nb3:\n  %8 = phi %6, %7\n"
               "  %20 = param 3\n  %21 = op ones(%5)\n  %9 = op mul(%20, %21)\n  store " +
                   target + "[0], %9\n  %10 = load " + from +
                   "[0]\n  %11 = sink flash(q=%10, k=%20, v=%20)\n  return\n",
               {{"bf16"}})
        .size();
  };
  CHECK(read("%1", "%1") == 1);
  CHECK(read("%1", "%2") == 0);
  CHECK(read("%8", "%1") == 0);
}

}  // namespace
}  // namespace dtype_guard::flow
