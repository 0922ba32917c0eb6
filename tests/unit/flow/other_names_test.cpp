// What is known of a tensor on one path or by one name, and what of it holds on another and by another name.
#include <fmt/format.h>

#include "tests/catch.h"
#include "tests/unit/flow/lint_text.h"

namespace dtype_guard::flow {
namespace {

TEST_CASE("a setting converts what a constructor converts on other paths only") {
  const auto converted = [](const char* dtype, const char* setting) {
    return findings(fmt::format(R"IR(
constructor Scaled::Scaled key ctor of Scaled
  parameter flag: number "bool"
b0:
  %1 = param 0
  %2 = param 1
  %3 = const 2
  %4 = pack(%3, %3)
  %5 = op ones(%4) ; 5:3-5:9 "ones"
  %6 = register parameter "scale", %1, %5
  store %1.scale, %6
  branch %2 ? b1 : b2
b1:
  %7 = const {}
  retype %1, %7 ; 7:3-7:9 "to"
  jump b2
b2:
  return

method Scaled::forward key forward of Scaled
b0:
  %1 = param 0
  %2 = load %1.scale
  %3 = sink flash(q=%2, k=%2, v=%2) ; 99:3-99:20 "flash(scale)"
  return
)IR",
                                dtype),
                    {{setting}, true});
  };
  CHECK(converted("float16", "fp16").empty());
  CHECK(converted("bfloat16", "fp16").empty());
  CHECK(converted("float32", "fp16").size() == 1);
  CHECK(converted("float16", "fp32").size() == 1);
}

const std::string kCall =
    "  %30 = load v\n  %31 = sink flash(q=%1, k=%1, v=%30) ; 99:3-99:20 \"flash(q, q, v)\"\n";

TEST_CASE("what is floating, and how many dimensions it has, is asked of each of several tensors") {
  const std::string whole = R"IR(  %11 = object Holder()
  %12 = const int64
  %13 = op zeros(%10, dtype=%12) ; 13:3-13:9 "whole"
  %14 = register buffer "a", %11, %13
)IR";
  const std::string either = "  store v, %1\n  branch %3 ? b1 : b2\nb1:\n  store v, %14\n  jump b2\nb2:\n";
  const auto rotated = [&](const std::string& checked) {
    return findings_of_body(whole + "  branch %4 ? b2 : b1\nb1:\n  jump b2\nb2:\n  %20 = phi %14, %1\n" +
                                "  %21 = op is_floating_point(%20)\n" + checked +
                                "  %31 = sink rotary(x=%20, cos=%20, sin=%20) ; 99:3-99:20 \"rotary(v)\"\n",
                            "fp16");
  };
  CHECK(rotated("").size() == 1);
  CHECK(rotated("  assume %21\n").empty());

  const std::string deep = "  %13 = pack(%5, %5, %5)\n  %14 = op ones(%13) ; 14:3-14:9 \"wide\"\n" + either;
  const auto asked = [&](const char* comparison, const char* between) {
    return findings_of_body(
        deep +
            fmt::format(
                "  %20 = load v\n  %21 = op dim(self=%20)\n{}  %22 = const 3\n  %23 = op {}(%21, %22)\n"
                "  assume %23\n",
                between, comparison) +
            kCall,
        "bf16");
  };
  CHECK(asked("eq", "").size() == 1);
  CHECK(asked("ne", "").empty());
  CHECK(asked("ne", "  %24 = op squeeze_(self=%20, dim=%5)\n").size() == 1);
}

TEST_CASE("one tensor is read from two places that both hold it") {
  const auto read = [](const char* other, const char* dtype) {
    return findings_of_body(fmt::format(R"IR(  branch %3 ? b1 : b2
b1:
  %11 = pack(%1)
  jump b3
b2:
  %12 = pack({})
  jump b3
b3:
  %13 = phi %11, %12
  %14 = load %13[0]
  %15 = object Holder()
  %16 = register buffer "a", %15, %1
  %17 = const {}
  retype %15, %17 ; 17:3-17:9 "to"
  %18 = sink flash(q=%2, k=%2, v=%14) ; 99:3-99:20 "flash(k, k, q)"
)IR",
                                        other, dtype),
                            "bf16");
  };
  CHECK(read("%1", "float32").size() == 1);
  CHECK(read("%1", "bfloat16").empty());
  CHECK(read("%2", "bfloat16").empty());
}

TEST_CASE("what a lambda is handed and what it captured may be one tensor") {
  const auto run = [](const char* captured, const char* dtype) {
    return findings(fmt::format(R"IR(
lambda convert internal
  parameter x: tensor
b0:
  %1 = param 0
  %2 = param 1
  %3 = load %1.captured
  %4 = object Holder()
  %5 = register buffer "a", %4, %2
  %6 = const {}
  retype %4, %6
  %7 = sink flash(q=%3, k=%3, v=%3) ; 99:3-99:20 "flash(captured)"
  return

function f
b0:
  %1 = const 2
  %2 = pack(%1, %1)
  %3 = op ones(%2) ; 13:3-13:9 "one"
  %4 = op zeros(%2) ; 14:3-14:9 "other"
  %5 = closure convert(captured={})
  %6 = call ""(%5, %4)
  return
)IR",
                                dtype, captured),
                    {{"bf16"}, true});
  };
  CHECK(run("%3", "bfloat16").size() == 1);
  CHECK(run("%4", "bfloat16").empty());
}

TEST_CASE("what a constructor keeps in a plain member a part that it is handed to may register") {
  const auto kept = [](const std::string& registered) {
    return findings(R"IR(
constructor Part::Part key part of Part module
  parameter x: tensor
b0:
  %1 = param 0
  %2 = param 1
)IR" + registered + R"IR(  return

constructor Whole::Whole key whole of Whole module
b0:
  %1 = param 0
  %2 = const 2
  %3 = pack(%2, %2)
  %4 = op ones(%3) ; 14:3-14:9 "wide"
  store %1.table, %4
  %5 = object Part()
  %6 = call part(%5, %4)
  %7 = register module "part", %1, %5
  store %1.part, %7
  return

method Whole::forward key forward of Whole module
b0:
  %1 = param 0
  %2 = load %1.table
  %3 = sink flash(q=%2, k=%2, v=%2) ; 99:3-99:20 "flash(table)"
  return
)IR",
                    {{"bf16"}, true});
  };
  CHECK(kept("").size() == 1);
  CHECK(kept("  %3 = register parameter \"weight\", %1, %2\n").empty());
}

TEST_CASE("places that hold one tensor do so behind a question of a list, too") {
  const auto asked = [](const char* dtype) {
    return findings_of_body(fmt::format(R"IR(  store v, %1
  %11 = pack(%2, %4)
  %12 = load %11[*]
  branch %3 ? b1 : b4
b1:
  %13 = op is_floating_point(%12)
  branch %13 ? b2 : b3
b2:
  %14 = object Holder()
  %15 = register buffer "a", %14, %1
  %16 = const {}
  retype %14, %16 ; 16:3-16:9 "to"
  jump b3
b3:
  jump b4
b4:
  %20 = load v
  %21 = sink flash(q=%20, k=%20, v=%20) ; 99:3-99:20 "flash(q)"
)IR",
                                        dtype),
                            "bf16");
  };
  CHECK(asked("int64").size() == 1);
  CHECK(asked("bfloat16").empty());
}

TEST_CASE("what a callee registers is known from before another call") {
  const auto handed_on = [](const char* known) {
    return findings(fmt::format(R"IR(
function returns internal foreign
  parameter x: tensor
b0:
  %1 = param 0
  return %1

function owns internal foreign
  parameter x: tensor
b0:
  %1 = param 0
  %2 = object Holder()
  %3 = register buffer "a", %2, %1
  %4 = const bfloat16
  retype %2, %4
  return %3

function f
b0:
  %1 = const 2
  %2 = pack(%1, %1)
  %3 = op ones(%2) ; 13:3-13:9 "one"
  %4 = op zeros(%2) ; 14:3-14:9 "other"
  %5 = pack(%3, %4)
  %6 = load %5[{}]
  %7 = call returns(%3)
  %8 = call owns(%7)
  %9 = sink flash(q=%6, k=%6, v=%6) ; 99:3-99:20 "flash(known)"
  return
)IR",
                                known),
                    {{"bf16"}, true});
  };
  CHECK(handed_on("0").empty());
  CHECK(handed_on("1").size() == 1);
}

const std::string kEither =
    "  %12 = op ones(%10) ; 12:3-12:9 \"wide\"\n  store v, %1\n  branch %3 ? b1 : b2\n"
    "b1:\n  store v, %12\n  jump b2\nb2:\n  %20 = load v\n";

TEST_CASE("what a check leaves of several is a name of what a module registers behind it") {
  const auto registered = [](const char* which) {
    return findings_of_body(
        kEither + fmt::format("  %21 = dtype_of %20\n  %22 = const bfloat16\n  %23 = op eq(%21, %22)\n"
                              "  assume %23\n  %24 = object Holder()\n"
                              "  %25 = register buffer \"a\", %24, {}\n  %26 = const float32\n"
                              "  retype %24, %26 ; 26:3-26:9 \"to\"\n"
                              "  %27 = sink rotary(x=%12, cos=%20, sin=%20) ; 99:3-99:20 \"rotary(v)\"\n",
                              which),
        "bf16");
  };
  CHECK(registered("%1").empty());
  CHECK(registered("%12").size() == 1);
}

TEST_CASE("behind a library module its input is none of what that throws for") {
  const std::string module =
      "  %13 = module torch::nn::PReLU()\n  %14 = const bfloat16\n  %15 = op to(%13, %14)\n";
  const std::string call = "  %31 = sink flash(q=%1, k=%20, v=%20) ; 99:3-99:20 \"flash(q, v)\"\n";
  CHECK(findings_of_body(kEither + module + call, "bf16").size() == 1);
  const std::string forward = "  %30 = call attribute::forward(%13, %20) ; 30:3-30:9 \"prelu\"\n";
  CHECK(findings_of_body(kEither + module + forward + call, "bf16") ==
        std::vector<std::string>{"30 operator-mixed-dtypes self in f [bf16]"});
}

TEST_CASE("behind an operator a module's tensor is none of what that throws for") {
  const auto multiplied = [](const std::string& product) {
    return findings_of_body(
        "  %11 = object Holder()\n  %12 = op ones(%10)\n  %13 = register buffer \"a\", %11, %12\n"
        "  %14 = const bfloat16\n  retype %11, %14\n  branch %3 ? b1 : b2\nb1:\n  %15 = const float32\n"
        "  retype %11, %15 ; 15:3-15:9 \"to\"\n  jump b2\nb2:\n" +
            product + "  %31 = sink flash(q=%1, k=%13, v=%13) ; 99:3-99:20 \"flash(q, table)\"\n",
        "bf16");
  };
  CHECK(multiplied("").size() == 1);
  CHECK(multiplied("  %16 = op matmul(%1, %13)\n").empty());
}

TEST_CASE("a cast says what a value is, whatever had made it so wide") {
  const auto widened = [](const char* cast) {
    return findings_of_body(
        fmt::format("  %11 = call any_tensor(%1)\n  %12 = op ones(%10)\n"
                    "  %13 = op mul(%11, %12) ; 13:3-13:9 \"mul\"\n  %14 = const float32\n{}"
                    "  %16 = sink flash(q=%1, k=%1, v=%15) ; 99:3-99:20 \"flash(q, q, v)\"\n",
                    cast),
        "bf16");
  };
  CHECK(widened("  %15 = copy %13\n").empty());
  CHECK(widened("  %15 = cast %13, %14 ; 15:3-15:9 \"cast\"\n").size() == 1);
  CHECK(widened("  %15 = op to(self=%13, dtype=%14) ; 15:3-15:9 \"to\"\n").size() == 1);
}

TEST_CASE("a size is asked twice of what an instruction made") {
  const auto asked_again = [](const char* of) {
    return findings_of_body(
        fmt::format("  %11 = op ones(%10)\n  %12 = const 0\n  %13 = op size(%11, %12)\n  store v, %1\n"
                    "  branch %13 ? b1 : b2\nb1:\n  %14 = op mul(%1, %11) ; 14:3-14:9 \"mul\"\n"
                    "  store v, %14\n  jump b2\nb2:\n  %15 = op zeros(%10)\n  %16 = op size({}, %12)\n"
                    "  branch %16 ? b3 : b4\nb3:\n  unreachable\nb4:\n",
                    of) +
            kCall,
        "bf16");
  };
  CHECK(asked_again("%11").empty());
  CHECK(asked_again("%15").size() == 1);
}

}  // namespace
}  // namespace dtype_guard::flow
