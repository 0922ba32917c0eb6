// The rules that ask more than what reached the call: how it got there, and in which version.
#include "tests/catch.h"
#include "tests/unit/flow/lint_text.h"

namespace dtype_guard::flow {
namespace {
using Found = std::vector<std::string>;
const LintOptions kBf16{{"bf16"}};

const std::string kPromoted =
    "  %10 = op ones(%101)\n  %11 = op mul(%1, %10) ; 7:3-7:9 \"q * w\"\n  store a, %11\n";

TEST_CASE("a dropped cast is the place to edit where its result fits the call") {
  const auto with = [](const std::string& dtype, const std::string& after) {
    return attention_main(kPromoted + "  %12 = load a\n  %13 = const " + dtype +
                              "\n  %14 = op to(self=%12, dtype=%13) ; 8:3-8:15 \"q.to(kHalf)\"\n" + after +
                              "  %15 = load a\n",
                          "%15", "%2", "%3");
  };
  CHECK(findings(with("bfloat16", "  discard %14\n"), kBf16) == Found{"8 discarded-cast q in main [bf16]"});
  SECTION("used") { CHECK(findings(with("bfloat16", "  store a, %14\n"), kBf16).empty()); }
  SECTION("not dropped, only made") {
    CHECK(findings(with("bfloat16", ""), kBf16) == Found{"7 attention-implicit-promotion q in main [bf16]"});
  }
  SECTION("a cast that would not have helped") {
    CHECK(findings(with("float64", "  discard %14\n"), kBf16) ==
          Found{"7 attention-implicit-promotion q in main [bf16]"});
  }
  SECTION("a new value forgets it") {
    CHECK(findings(with("bfloat16", "  discard %14\n  store a, %1\n"), kBf16).empty());
  }
}

TEST_CASE("a dropped cast on one of two paths does not explain the other") {
  const std::string body = kPromoted +
                           "  %20 = const unknown\n  branch %20 ? b1 : b2\nb1:\n  %12 = load a\n"
                           "  %14 = op to(self=%12, dtype=%102) ; 8:3-8:15\n  discard %14\n  jump b2\nb2:\n"
                           "  %15 = load a\n";
  CHECK(findings(attention_main(body, "%15", "%2", "%3"), kBf16) ==
        Found{"7 attention-implicit-promotion q in main [bf16]"});
}

std::string checked(const std::string& asked, const std::string& dtype, const std::string& how) {
  return attention_main(
      "  store x, %1\n  %30 = load x\n  %10 = op ones(%101)\n"
      "  %11 = op mul(%30, %10) ; 7:3-7:9 \"q * w\"\n"
      "  %40 = dtype_of " +
          asked + "\n  %41 = const " + dtype + "\n  %42 = op " + how +
          "(self=%40, other=%41)\n  assume %42 ; 8:3-8:30\n",
      "%11", "%2", "%3");
}

TEST_CASE("a check that only the value from before the promotion passes") {
  CHECK(findings(checked("%30", "bfloat16", "eq"), kBf16) ==
        Found{"7 dtype-guard-misses-promotion q in main [bf16]"});
  CHECK(findings(checked("%1", "float32", "ne"), kBf16) ==
        Found{"7 dtype-guard-misses-promotion q in main [bf16]"});
  SECTION("of another tensor") {
    CHECK(findings(checked("%2", "bfloat16", "eq"), kBf16) ==
          Found{"7 attention-implicit-promotion q in main [bf16]"});
  }
  SECTION("that the promoted value would pass too") {
    CHECK(findings(checked("%30", "int64", "ne"), kBf16) ==
          Found{"7 attention-implicit-promotion q in main [bf16]"});
  }
  SECTION("of the promoted value: it ends the path") {
    CHECK(findings(checked("%11", "bfloat16", "eq"), kBf16).empty());
  }
}

TEST_CASE("a branch counts where it decides whether the call is reached") {
  const auto chosen = [](const std::string& call_in) {
    const std::string sink = "  %50 = sink flash(q=%11, k=%2, v=%3) ; 9:3-9:9\n";
    return "function main main\nb0:\n  %100 = const 2\n  %101 = pack(%100, %100)\n  %102 = const bfloat16\n"
           "  %1 = op randn(%101, dtype=%102)\n  %2 = op randn(%101, dtype=%102)\n"
           "  %3 = op randn(%101, dtype=%102)\n  %10 = op ones(%101)\n"
           "  %11 = op mul(%1, %10) ; 7:3-7:9 \"q * w\"\n  %40 = dtype_of %1\n  %41 = const float32\n"
           "  %42 = op ne(self=%40, other=%41)\n  branch %42 ? b1 : b2 ; 8:3-8:9\nb1:\n" +
           (call_in == "b1" ? sink : "") + "  jump b2\nb2:\n" + (call_in == "b2" ? sink : "") + "  return\n";
  };
  CHECK(findings(chosen("b1"), kBf16) == Found{"7 dtype-guard-misses-promotion q in main [bf16]"});
  CHECK(findings(chosen("b2"), kBf16) == Found{"7 attention-implicit-promotion q in main [bf16]"});
}

const char* const kTable = R"IR(
constructor Rotary::Rotary key ctor of Rotary module
b0:
  %1 = param 0
  %2 = const 8
  %3 = pack(%2)
  %4 = op ones(%3)
  store %1.table, %4 ; 5:3-5:20 "table = ones(8)"
  return

method Rotary::forward key forward of Rotary module
  parameter x: tensor
b0:
  %1 = param 0
  %2 = param 1 ; "x"
  %3 = load %1.table
  %4 = op mul(%2, %3) ; 12:3-12:9 "x * table"
  %5 = sink flash(q=%4, k=%2, v=%2)
  return %5
)IR";

TEST_CASE("a table in a plain member of a module that becomes half") {
  CHECK(findings(kTable, {{"bf16"}}) == Found{"5 unregistered-buffer q in Rotary::Rotary [bf16]"});
  SECTION("under autocast the module is not converted") {
    CHECK(findings(kTable, {{"autocast-bf16"}}) ==
          Found{"12 attention-implicit-promotion q in Rotary::forward [autocast-bf16]"});
  }
  SECTION("both together are one finding") {
    const Found found = findings(kTable);
    REQUIRE(found.size() == 1);
    CHECK(found[0] ==
          "5 unregistered-buffer q in Rotary::Rotary [autocast-fp16 autocast-bf16 fp16-fp32-buffers "
          "bf16-fp32-buffers]");
  }
  SECTION("a class that no conversion reaches has nothing to register") {
    std::string plain = kTable;
    plain.replace(plain.find(" of Rotary module"), 17, " of Rotary");
    CHECK(findings(plain, {{"bf16"}}) ==
          Found{"12 attention-implicit-promotion q in Rotary::forward [bf16]"});
  }
}

std::string described(const std::string& made, const std::string& dtype) {
  return "function main main\nb0:\n  %100 = const 2\n  %101 = pack(%100, %100)\n  %102 = const float16\n" +
         made + "  %2 = object DLTensor()\n  %3 = op data_ptr(self=%1)\n  store %2.data, %3\n  %4 = const " +
         dtype + "\n  store %2.dtype, %4 ; 5:3-5:20\n  %5 = sink flash(q=%2, k=%2, v=%2)\n  return\n";
}

TEST_CASE("a descriptor is held against the data it describes") {
  const std::string half = "  %1 = op randn(%101, dtype=%102)\n";
  const std::string bytes = "  %8 = const uint8\n  %1 = op zeros(%101, dtype=%8)\n";
  CHECK(findings(described(half, "bfloat16")) ==
        Found{"5 dlpack-dtype-mismatch k,q,v in main [autocast-fp16 autocast-bf16 fp16-fp32-buffers "
              "bf16-fp32-buffers]"});
  CHECK(findings(described(half, "float16")).empty());
  CHECK(findings(described(bytes, "bfloat16")).empty());
  SECTION("what the setting chose is no proof") {
    std::string text = described("  %1 = param 0\n", "bfloat16");
    text.replace(0, 19, "function f\n  parameter x: tensor\n");
    CHECK(findings(text).empty());
  }
}

TEST_CASE("a typed pointer states what it points to, a cast of an untyped one what it is taken for") {
  const auto cast = [](const std::string& pointer) {
    return "function f\n  parameter x: tensor\nb0:\n  %1 = param 0\n  %2 = const bfloat16\n  %3 = const 4\n"
           "  %4 = pack(%3)\n  %5 = const float32\n  %6 = op ones(%4, dtype=%5)\n  " +
           pointer + " ; 5:3-5:9\n  %8 = sink flash(q=%7, k=%1, v=%1)\n  return\n";
  };
  const LintOptions strict_bf16{{"bf16"}};
  CHECK(findings(cast("%7 = op pointer_cast(self=%6, dtype=%2)"), strict_bf16) ==
        Found{"5 dlpack-dtype-mismatch q in f [bf16]"});
  CHECK(findings(cast("%7 = op pointer_cast(self=%1, dtype=%2)"), strict_bf16).empty());
}

const char* const kNormalised = R"IR(
function f
  parameter x: tensor
b0:
  %1 = param 0 ; "x"
  %2 = const 4
  %3 = pack(%2)
  %4 = op rms_norm(%1, %3) ; 5:3-5:9 "rms_norm(x)"
  %5 = sink flash(q=%4, k=%1, v=%1)
  return
)IR";

TEST_CASE("what breaks in some versions of a range is the version's rule") {
  LintOptions range{{"autocast-bf16"}};
  range.torch = {"2.10", "2.11", "2.12", "2.13"};
  const AnalysisResult result = lint(kNormalised, range);
  CHECK(summary(result) == Found{"5 version-dependent-dtype q in f [autocast-bf16]"});
  REQUIRE(result.findings.size() == 1);
  CHECK(result.findings[0].torch == std::vector<std::string>{"2.12", "2.13"});
  CHECK(result.findings[0].also_rules.front() == "autocast-fp32-operator");
  SECTION("and in all of them the operator's") {
    range.torch = {"2.12", "2.13"};
    CHECK(findings(kNormalised, range) == Found{"5 autocast-fp32-operator q in f [autocast-bf16]"});
  }
  SECTION("in none nothing") {
    range.torch = {"2.10", "2.11"};
    CHECK(findings(kNormalised, range).empty());
  }
}

const std::string kPromotes =
    "  %1 = param 0\n  %2 = const 4\n  %3 = pack(%2)\n  %4 = op ones(%3)\n"
    "  %5 = op mul(%1, %4) ; 5:3-5:9 \"x * w\"\n  %6 = sink flash(q=%5, k=%1, v=%1)\n  return\n";

TEST_CASE("in a file with main, what main does not reach is a root of its own") {
  const std::string main =
      "function main main\nb0:\n  %1 = const 4\n  %2 = pack(%1)\n  %3 = const float32\n"
      "  %4 = op ones(%2, dtype=%3)\n";
  const std::string callee = "\nfunction f KIND\n  parameter x: tensor\nb0:\n" + kPromotes;
  const auto with = [&](const std::string& kind, const std::string& call) {
    std::string text = main + call + "  return\n" + callee;
    return findings(text.replace(text.find(" KIND"), 5, kind), kBf16);
  };
  const Found found = {"5 attention-implicit-promotion q in f [bf16]"};
  CHECK(with("", "") == found);
  CHECK(with(" internal", "") == found);
  // Where main hands in float32, that is what arrives, and the setting has no say.
  const Found handed = {"? attention-unsupported-dtype k,q,v in f [bf16]"};
  CHECK(with("", "  %5 = call f(%4)\n") == handed);
  CHECK(with(" internal", "  %5 = call f(%4)\n") == handed);
  CHECK(with(" foreign", "").empty());
  SECTION("a header waits for the files that call it") {
    std::string text = main + "  return\n" + callee;
    text.replace(text.find(" KIND"), 5, " ; h.h:1:1-1:2");
    CHECK(findings("file \"h.h\"\n" + text, kBf16).empty());
  }
}

TEST_CASE("of functions that only call each other one is a root") {
  const std::string text =
      "function a internal\n  parameter x: tensor\nb0:\n  %1 = param 0\n  %2 = call b(%1)\n"
      "  return\n\nfunction b internal\n  parameter x: tensor\nb0:\n" +
      kPromotes.substr(0, kPromotes.size() - 9) + "  %7 = call a(%1)\n  return\n";
  CHECK(findings(text, kBf16).size() == 1);
}

TEST_CASE("a path ends where an in-place result cannot be stored in its tensor") {
  const auto with = [](const std::string& instruction) {
    return findings(attention_main("  %10 = op ones(%101)\n  %11 = op mul(%1, %10) ; 7:3-7:9 \"q * w\"\n"
                                   "  %12 = op arange(%100)\n  %13 = const 1.5\n  %14 = const unknown\n" +
                                       instruction,
                                   "%11", "%2", "%3"),
                    kBf16);
  };
  const Found reached = {"7 attention-implicit-promotion q in main [bf16]"};
  CHECK(with("") == reached);
  for (const char* each :
       {"add_(self=%12, other=%10)", "mul_(self=%12, other=%13)", "div_(self=%12, other=%100)",
        "pow_(self=%12, exponent=%13)", "sqrt_(self=%12)", "add_out(self=%10, other=%1, out=%12)"}) {
    INFO(each);
    CHECK(with(std::string("  %15 = op ") + each + "\n").empty());
  }
  for (const char* each : {"add_(self=%12, other=%100)", "mul_(self=%10, other=%12)",
                           "mul_(self=%12, other=%14)", "add_out(self=%12, other=%12, out=%10)"}) {
    INFO(each);
    CHECK(with(std::string("  %15 = op ") + each + "\n") == reached);
  }
}

TEST_CASE("a module that makes itself half is not run under autocast over float32 parameters") {
  const auto module = [](const std::string& conversion) {
    return "constructor M::M key ctor of M module\nb0:\n  %1 = param 0\n  %2 = const 8\n  %3 = pack(%2)\n"
           "  %4 = op ones(%3)\n  %5 = register parameter \"weight\", %1, %4\n  store %1.weight, %5\n"
           "  %6 = const float16\n" +
           conversion +
           "  return\n\nmethod M::forward key forward of M module\n"
           "  parameter x: tensor\nb0:\n  %1 = param 0\n  %2 = param 1 ; \"x\"\n"
           "  %3 = op normalize(%2) ; 12:3-12:9 \"normalize(x)\"\n"
           "  %5 = sink flash(q=%3, k=%2, v=%2)\n  return %5\n";
  };
  CHECK(findings(module("")) ==
        Found{"12 autocast-fp32-operator q in M::forward [autocast-fp16 autocast-bf16]"});
  CHECK(findings(module("  retype %1, %6\n")).empty());
  const LintOptions asked{{"autocast-fp16"}, true};
  CHECK(findings(module("  retype %1, %6\n"), asked).size() == 1);
}

}  // namespace
}  // namespace dtype_guard::flow
