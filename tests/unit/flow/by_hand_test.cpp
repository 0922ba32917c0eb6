// Places without a contract that demand one dtype: a rotary embedding by hand without a caller in sight, and
// checks that two tensors have one dtype. A float32 tensor beside one of no known dtype.
#include "tests/catch.h"
#include "tests/unit/flow/lint_text.h"

namespace dtype_guard::flow {
namespace {
using Found = std::vector<std::string>;

// Rotates x by tables that are made from float32 angles; `back` makes %20 of the rotated %19.
std::string rotation(const std::string& table, const std::string& back) {
  return R"(
function turn key turn
  parameter x: tensor
b0:
  %1 = param 0
  %2 = const 2
  %3 = pack(%2, %2)
  %4 = op ones(%3)
)" + table +
         R"(  %11 = op mul(self=%1, other=%8) ; 7:3-7:9 "x * cos"
  %12 = op neg(self=%1)
  %13 = op mul(self=%12, other=%9) ; 8:3-8:9 "rotated * sin"
  %19 = op add(self=%11, other=%13) ; 8:1-8:12
)" + back +
         "  return %20\n";
}
const std::string kTables = "  %8 = op cos(%4)\n  %9 = op sin(%4)\n";
const std::string kAsIs = "  %20 = op transpose(self=%19, dim0=%2, dim1=%2)\n";

TEST_CASE("what a rotary embedding widens and gives back is found where it was widened") {
  CHECK(findings(rotation(kTables, kAsIs)) ==
        Found{"7 rotary-dtype-mismatch out in turn [fp16-fp32-buffers bf16-fp32-buffers]"});
}

TEST_CASE("a rotary embedding that casts back, or that was asked for float32, is silent") {
  CHECK(findings(rotation(kTables, "  %20 = op type_as(self=%19, other=%1)\n")).empty());
  CHECK(findings(rotation(kTables + "  %7 = op float(self=%1)\n", "  %20 = op mul(self=%7, other=%8)\n"))
            .empty());
  const std::string half_tables =
      "  %5 = op cos(%4)\n  %6 = op sin(%4)\n  %8 = op type_as(self=%5, other=%1)\n"
      "  %9 = op type_as(self=%6, other=%1)\n";
  CHECK(findings(rotation(half_tables, kAsIs)).empty());
}

TEST_CASE("one table alone rotates nothing") {
  CHECK(findings(rotation("  %8 = op cos(%4)\n  %9 = op exp(%4)\n", kAsIs)).empty());
  CHECK(findings(rotation("  %8 = op exp(%4)\n  %9 = op exp(%4)\n", kAsIs)).empty());
}

TEST_CASE("a rotary embedding that is called in sight is judged by its caller") {
  const std::string caller = R"(
function caller key caller
  parameter x: tensor
b0:
  %1 = param 0
  %2 = call turn(%1)
)";
  CHECK(
      findings(rotation(kTables, kAsIs) + caller + "  %3 = op to(self=%2, dtype=%1)\n  return %3\n").empty());
  CHECK(findings(rotation(kTables, kAsIs) + caller + "  return %2\n").size() == 1);
}

TEST_CASE("both that a rotary embedding gives back are one finding") {
  const std::string both = "  %18 = pack(%19, %19)\n  %20 = copy %18\n";
  CHECK(findings(rotation(kTables, both)) ==
        Found{"7 rotary-dtype-mismatch out,out2 in turn [fp16-fp32-buffers bf16-fp32-buffers]"});
}

// %11 is q times float32 ones; `check` asks.
std::string checked(const std::string& check) {
  return attention_main("  %10 = op ones(%101)\n  %11 = op mul(%1, %10) ; 7:3-7:9 \"q * scale\"\n" + check,
                        "%11", "%2", "%3");
}
const std::string kEqual = "  %12 = dtype_of %11\n  %13 = dtype_of %2\n  %14 = op eq(self=%12, other=%13)\n";
const Found kAtPromotion = {
    "7 attention-mixed-dtypes left in main [autocast-fp16 autocast-bf16 fp16-fp32-buffers "
    "bf16-fp32-buffers]"};

TEST_CASE("a check that two operands have one dtype fails where one was widened") {
  CHECK(findings(checked(kEqual + "  assume %14 ; 8:3-8:9\n")) == kAtPromotion);
  const std::string raises = kEqual + "  branch %14 ? b2 : b1 ; 8:3-8:9\nb1:\n  unreachable\nb2:\n";
  CHECK(findings(checked(raises)) == kAtPromotion);
  const std::string differs =
      "  %12 = dtype_of %11\n  %13 = dtype_of %2\n  %14 = op ne(self=%12, other=%13)\n";
  CHECK(findings(checked(differs + "  branch %14 ? b1 : b2 ; 8:3-8:9\nb1:\n  unreachable\nb2:\n")) ==
        kAtPromotion);
}

TEST_CASE("a chain of checks fails by the part that does") {
  const std::string chain =
      "  %15 = dtype_of %3\n  %16 = op eq(self=%13, other=%15)\n  %17 = op logical_and(%16, %14)\n"
      "  assume %17 ; 8:3-8:9\n";
  CHECK(findings(checked(kEqual + chain)) == kAtPromotion);
}

TEST_CASE("a check that chooses is no check, and one that passes is silent") {
  const std::string chooses =
      kEqual + "  store a, %2\n  branch %14 ? b2 : b1 ; 8:3-8:9\nb1:\n  store a, %1\n  jump b2\nb2:\n";
  CHECK(findings(checked(chooses)).size() == 1);  // at the call
  const std::string other = "  %12 = dtype_of %3\n  %13 = dtype_of %2\n  %14 = op eq(self=%12, other=%13)\n";
  const std::string passes = other + "  assume %14 ; 8:3-8:9\n";
  CHECK(findings(attention_main(passes, "%1", "%2", "%3")).empty());
}

TEST_CASE("a check of what attention never sees is not its matter") {
  const std::string text = attention_main(
      "  %20 = op randn(%101, dtype=%102)\n  %10 = op ones(%101)\n  %11 = op mul(%20, %10)\n  %21 = op "
      "randn(%101, "
      "dtype=%102)\n  %12 = dtype_of %11\n  %13 = dtype_of %21\n  %14 = op eq(self=%12, other=%13)\n  assume "
      "%14 ; "
      "8:3-8:9\n",
      "%1", "%2", "%3");
  CHECK(findings(text).empty());
}

TEST_CASE("beside a float32 tensor a value of no known dtype is no longer half, if it is a tensor") {
  const auto made = [](const std::string& table, bool strict) {
    LintOptions options;
    options.strict = strict;
    return findings(
        attention_main("  %9 = const unknown\n" + table + "  %11 = op mul(self=%9, other=%10) ; 7:3-7:9\n",
                       "%11", "%2", "%3"),
        options);
  };
  CHECK(made("  %10 = op ones(%101)\n", true) ==
        Found{"7 attention-implicit-promotion q in main [autocast-fp16 autocast-bf16 fp16-fp32-buffers "
              "bf16-fp32-buffers] possible"});
  CHECK(made("  %10 = op ones(%101)\n", false).empty());
  CHECK(made("  %10 = op ones(%101, dtype=%102)\n", true).empty());
  CHECK(made("  %8 = pack()\n  %10 = op ones(%8)\n", true).empty());
  CHECK(made("  %10 = const 2.5\n", true).empty());
}

TEST_CASE("where a half value meets what was widened of something unknown is where it is widened") {
  const std::string positions =
      "  %9 = const unknown\n  %10 = op ones(%101)\n  %11 = op mul(self=%9, other=%10) ; 7:3-7:9\n"
      "  %12 = op exp(self=%11)\n  %13 = op mul(self=%1, other=%12) ; 8:3-8:9\n";
  CHECK(findings(attention_main(positions, "%13", "%2", "%3")) ==
        Found{"8 attention-implicit-promotion q in main [autocast-fp16 autocast-bf16 fp16-fp32-buffers "
              "bf16-fp32-buffers]"});
}

}  // namespace
}  // namespace dtype_guard::flow
