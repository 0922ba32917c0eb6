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

}  // namespace
}  // namespace dtype_guard::flow
