// Rule, operands to blame and wording, from the dtypes of a call.
#include "sanitizer/symbolize/violation.h"

#include <algorithm>

#include "sanitizer/protocol/journal.h"
#include "sanitizer/symbolize/opening.h"
#include "tests/catch.h"

using namespace dtype_guard;
using namespace dtype_guard::san;

namespace {

constexpr std::uint32_t kHalf = 0x21001, kBrain = 0x41001, kFloat = 0x22001;

JournalOperand operand(const char* role, std::uint32_t packed, DtypeSet accepts, int same_as,
                       std::uint32_t flags = 0) {
  JournalOperand result;
  result.role = role;
  result.packed = packed;
  result.accepts = accepts;
  result.same_as = same_as;
  result.flags = flags | (packed != 0 ? kOperandPresent : 0U);
  return result;
}

Violation attention(std::uint32_t q, std::uint32_t k, std::uint32_t v, std::uint32_t out,
                    std::uint32_t lse = 0) {
  const DtypeSet half = {Dtype::kFloat16, Dtype::kBFloat16};
  return describe_violation("attend", ApiKind::kAttention,
                            {operand("q", q, half, -1), operand("k", k, half, 0), operand("v", v, half, 0),
                             operand("out", out, half, 0, kOperandOutput),
                             operand("lse", lse, {Dtype::kFloat32}, -1, kOperandOptional | kOperandOutput)});
}

const DtypeSet kAny = {Dtype::kFloat16, Dtype::kBFloat16, Dtype::kFloat32};

Violation rotary(std::uint32_t x, std::uint32_t cos, std::uint32_t sin, std::uint32_t out) {
  return describe_violation("rotate", ApiKind::kRotary,
                            {operand("x", x, kAny, -1), operand("cos", cos, kAny, 0),
                             operand("sin", sin, kAny, 0), operand("out", out, kAny, 0, kOperandOutput)});
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("the operand that differs is blamed, whichever it is") {
  Violation key = attention(kHalf, kFloat, kHalf, kHalf);
  CHECK(key.rule == "attention-mixed-dtypes");
  CHECK(key.also_rules == Names{"attention-unsupported-dtype"});
  CHECK(key.roles == Names{"k"});
  CHECK(key.message ==
        "'k' is 'float32' while 'q', 'v' and 'out' are 'float16'; 'attend' takes 'float16' or 'bfloat16', "
        "all in "
        "one "
        "dtype: cast 'k' to 'float16' before the call");
  Violation query = attention(kFloat, kBrain, kBrain, kBrain);
  CHECK(query.roles == Names{"q"});
  CHECK(query.message.find("cast 'q' to 'bfloat16' before the call") != std::string::npos);
}

TEST_CASE("two halves are mixed, not unsupported") {
  Violation violation = attention(kHalf, kBrain, kBrain, kHalf);
  CHECK(violation.rule == "attention-mixed-dtypes");
  CHECK(violation.also_rules.empty());
  CHECK(violation.roles == Names{"k", "v"});
  CHECK(
      violation.message ==
      "'k' and 'v' are 'bfloat16' while 'q' and 'out' are 'float16'; 'attend' takes 'float16' or 'bfloat16', "
      "all in one "
      "dtype: cast 'k' and 'v' to 'float16', the dtype of 'q' before the call");
}

TEST_CASE("all operands wide") {
  Violation violation = attention(kFloat, kFloat, kFloat, kFloat);
  CHECK(violation.rule == "attention-unsupported-dtype");
  CHECK(violation.also_rules.empty());
  CHECK(violation.roles == Names{"q", "k", "v", "out"});
  CHECK(
      violation.message ==
      "'q', 'k', 'v' and 'out' are 'float32'; 'attend' takes 'float16' or 'bfloat16', all in one dtype: cast "
      "'q', 'k' "
      "and 'v' to 'float16' or 'bfloat16' before the call and allocate 'out' so too");
}

TEST_CASE("an operand with a rule of its own") {
  Violation violation = attention(kHalf, kHalf, kHalf, kHalf, kHalf);
  CHECK(violation.rule == "attention-unsupported-dtype");
  CHECK(violation.roles == Names{"lse"});
  CHECK(violation.message ==
        "'lse' is 'float16'; 'attend' takes 'float32' there: allocate 'lse' as 'float32'");
}

TEST_CASE("only the output") {
  Violation violation = attention(kHalf, kHalf, kHalf, kFloat);
  CHECK(violation.rule == "attention-mixed-dtypes");
  CHECK(violation.roles == Names{"out"});
  CHECK(violation.message.find("allocate 'out' as 'float16'") != std::string::npos);
}

TEST_CASE("beside weights the operand that differs from most is blamed, half or not") {
  constexpr std::uint32_t kDouble = 0x24001;
  const DtypeSet floats = {Dtype::kFloat16, Dtype::kBFloat16, Dtype::kFloat32, Dtype::kFloat64};
  const Names roles = {"q", "k", "v", "qkv_weight", "proj_weight", "proj_bias"};
  const auto blamed = [&](std::uint32_t most, std::uint32_t other, const Names& others) {
    std::vector<JournalOperand> operands;
    for (const std::string& role : roles) {
      const bool differs = std::find(others.begin(), others.end(), role) != others.end();
      operands.push_back(operand(role.c_str(), differs ? other : most, floats, role == "q" ? -1 : 0));
    }
    const Violation violation = describe_violation("attend", ApiKind::kAttention, operands);
    CHECK(violation.rule == "attention-mixed-dtypes");
    return violation.roles;
  };
  for (const std::uint32_t most : {kHalf, kBrain, kFloat, kDouble})
    for (const std::uint32_t other : {kHalf, kBrain, kFloat, kDouble})
      for (const std::string& role : roles)
        if (other != most) CHECK(blamed(most, other, {role}) == Names{role});
  CHECK(blamed(kBrain, kFloat, {"q", "k", "v"}) == Names{"q", "k", "v"});
  CHECK(blamed(kFloat, kBrain, {"qkv_weight", "proj_weight", "proj_bias"}) == Names{"q", "k", "v"});
}

TEST_CASE("rotary") {
  Violation violation = rotary(kFloat, kBrain, kBrain, kFloat);
  CHECK(violation.rule == "rotary-dtype-mismatch");
  CHECK(violation.also_rules.empty());
  CHECK(violation.roles == Names{"cos", "sin"});
  CHECK(violation.message.find("cast 'cos' and 'sin' to 'float32' before the call") != std::string::npos);
}

TEST_CASE("rotary with wide tables is raised to them, not the tables lowered") {
  Violation violation = rotary(kBrain, kFloat, kFloat, kBrain);
  CHECK(violation.rule == "rotary-dtype-mismatch");
  CHECK(violation.roles == Names{"x", "out"});
  CHECK(violation.message.find("cast 'x' to 'float32' before the call and allocate 'out' so too") !=
        std::string::npos);
}

TEST_CASE("one table that differs from x and from the other is the stray") {
  struct Row {
    std::uint32_t x, cos, sin;
    const char* role;
    const char* dtype;
  };
  for (const Row& row :
       {Row{kBrain, kFloat, kBrain, "cos", "bfloat16"}, Row{kBrain, kBrain, kFloat, "sin", "bfloat16"},
        Row{kHalf, kBrain, kHalf, "cos", "float16"}, Row{kHalf, kHalf, kBrain, "sin", "float16"},
        Row{kFloat, kHalf, kFloat, "cos", "float32"}, Row{kFloat, kFloat, kHalf, "sin", "float32"}}) {
    const Violation violation = rotary(row.x, row.cos, row.sin, row.x);
    CAPTURE(violation.message);
    CHECK(violation.roles == Names{row.role});
    const std::string cure = std::string("cast '") + row.role + "' to '" + row.dtype + "' before the call";
    CHECK(violation.message.ends_with(cure));
  }
}

TEST_CASE("tables that differ from x and from each other are raised with it") {
  const Violation violation = rotary(kBrain, kFloat, kHalf, kBrain);
  CHECK(violation.roles == Names{"x", "sin", "out"});
  CHECK(violation.message.ends_with(
      "cast 'x' and 'sin' to 'float32' before the call and allocate 'out' so too"));
}

TEST_CASE("an input that was promoted is cast back, the others are not raised to it") {
  std::vector<JournalOperand> operands = {operand("r", kBrain, kAny, -1)};
  for (const char* role : {"w", "k", "v", "a", "b"}) operands.push_back(operand(role, kBrain, kAny, 0));
  operands.push_back(operand("out", kBrain, kAny, 0, kOperandOutput));
  operands[2].packed = kFloat;
  const Violation violation = describe_violation("recur", ApiKind::kAttention, operands);
  CHECK(violation.roles == Names{"k"});
  CHECK(violation.message ==
        "'k' is 'float32' while 'r', 'w', 'v', 'a', 'b' and 'out' are 'bfloat16'; 'recur' takes 'float16', "
        "'float32' or "
        "'bfloat16', all in one dtype: cast 'k' to 'bfloat16' before the call");
}

TEST_CASE("what is no dtype is shown as numbers") {
  CHECK(dtype_text(kHalf) == "float16");
  CHECK(dtype_text(77U << 16 | 3U << 8 | 1U) == "dtype(code 77, bits 3, lanes 1)");
}

TEST_CASE("attention that takes wide operands as well: the half dtype is what they were meant to be") {
  const auto call = [](std::uint32_t q, std::uint32_t k, std::uint32_t v) {
    return describe_violation(
        "attend", ApiKind::kAttention,
        {operand("q", q, kAny, -1), operand("k", k, kAny, 0), operand("v", v, kAny, 0)});
  };
  CHECK(call(kFloat, kFloat, kBrain).roles == Names{"q", "k"});
  CHECK(call(kFloat, kBrain, kBrain).roles == Names{"q"});
  CHECK(call(kHalf, kFloat, kHalf).roles == Names{"k"});
  CHECK(call(kFloat, kFloat, kBrain).message.find("cast 'q' and 'k' to 'bfloat16' before the call") !=
        std::string::npos);
}

namespace {

JournalFinding operator_site(const char* name, std::vector<std::uint32_t> inputs, std::uint32_t result) {
  JournalFinding site;
  site.api = name;
  for (const std::uint32_t input : inputs) site.operands.push_back(operand("", input, {}, -1));
  site.operands.push_back(operand("", result, {}, -1, kOperandOutput));
  return site;
}

}  // namespace

TEST_CASE("the way of an operand begins at the first of the promotions that follow one another") {
  const std::map<std::uint32_t, JournalFinding> sites = {
      {1, operator_site("aten::arange", {}, kFloat)},
      {2, operator_site("aten::mul", {kBrain, kFloat}, kFloat)},
      {3, operator_site("aten::cat", {kFloat, kBrain}, kFloat)},
      {4, operator_site("aten::to", {kBrain}, kFloat)},
      {5, operator_site("aten::to", {kFloat}, kFloat)},
  };
  using Way = std::vector<std::uint32_t>;
  CHECK(way_from_origin(sites, {3, 2, 1}) == Way{2, 3});
  CHECK(way_from_origin(sites, {3, 2}) == Way{2, 3});
  CHECK(way_from_origin(sites, {4, 3, 2}) == Way{4});
  CHECK(way_from_origin(sites, {3, 4}) == Way{3});
  CHECK(way_from_origin(sites, {3, 9, 2}) == Way{2, 3});  // a site that was not written
  CHECK(way_from_origin(sites, {1}) == Way{1});
  CHECK(way_from_origin(sites, {5, 2, 1}) == Way{2, 5});  // a cast that changes nothing is no beginning
  CHECK(way_from_origin(sites, {3, 5, 2, 1}) ==
        Way{2, 5, 3});                                 // nor is it where an operator promotes behind it
  CHECK(way_from_origin(sites, {3, 5, 4}) == Way{3});  // the cast that is meant
  CHECK(way_from_origin(sites, {3, 5}) == Way{3});
  CHECK(way_from_origin(sites, {5, 5, 4}) == Way{4, 5, 5});
  CHECK(way_from_origin(sites, {5}) == Way{5});
  CHECK(origin_step(sites.at(2), {}).note == "promoted by aten::mul(bfloat16, float32)");
  CHECK(origin_step(sites.at(3), {"q"}).note == "'q' is promoted by aten::cat(float32, bfloat16)");
  CHECK(origin_step(sites.at(3), {"q", "k"}).note ==
        "'q' and 'k' are promoted by aten::cat(float32, bfloat16)");
  CHECK(source_of_wide_operand(sites, {3, 2, 1}, 2) == &sites.at(1));
  CHECK(source_of_wide_operand(sites, {3, 5, 4}, 3) == &sites.at(4));
  CHECK(source_of_wide_operand(sites, {3, 5}, 3) == nullptr);
  CHECK(source_of_wide_operand(sites, {2}, 2) == nullptr);
  CHECK(source_of_wide_operand(sites, {4, 1}, 4) == nullptr);
  CHECK(origin_step(sites.at(3), {"q"}).before == "bfloat16");
  CHECK(origin_step(operator_site("aten::add", {kHalf, kBrain}, kFloat), {"q"}).note ==
        "'q' is promoted by aten::add(float16, bfloat16)");
  CHECK(origin_step(operator_site("aten::linear", {kFloat, kBrain}, kHalf), {}).note ==
        "cast by aten::linear(float32, bfloat16)");
  CHECK(origin_step(sites.at(4), {}).note == "cast by aten::to(bfloat16)");
  CHECK(origin_step(sites.at(1), {}).note == "made by aten::arange()");
  CHECK(origin_step(sites.at(5), {"q"}).note == "'q' is kept so by aten::to(float32)");
}
