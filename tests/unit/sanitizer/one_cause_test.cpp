#include "sanitizer/symbolize/one_cause.h"

#include "tests/catch.h"

using namespace dtype_guard;
using namespace dtype_guard::san;

namespace {

// Of a call of `api` whose operand came through one operator, at a line of a model.
Finding finding(const std::string& api, const std::string& before, const std::string& after, int line) {
  Finding made;
  made.rule = "rule of " + api;
  made.observed = {"runtime"};
  made.api = api;
  made.location = {"model.py", line, 0, 0, 0, "forward"};
  made.sinks.push_back({api, "q", {"call.py", 1, 0, 0, 0, "attend"}});
  made.operands.push_back({"q", {after}, {}, {}, "cpu", 0});
  made.path.push_back(
      {made.location, "aten::mul", before, after, "", {{"python", "forward", "model.py", line, "", 0}}});
  made.backtrace.push_back({"python", api, "call.py", 1, "", 0});
  made.occurrences.push_back({"host", 0, 7, 7, "", 1, {}});
  return made;
}

}  // namespace

TEST_CASE("calls that one promotion reaches are one finding") {
  std::vector<Finding> findings = {finding("a", "bfloat16", "float32", 3),
                                   finding("b", "bfloat16", "float32", 3)};
  findings[0].level = Level::kWarning;
  merge_causes(findings);
  REQUIRE(findings.size() == 1);
  const Finding& one = findings.front();
  CHECK(one.api == "b");  // the graver
  CHECK(one.level == Level::kError);
  CHECK(one.also_rules == std::vector<std::string>{"rule of a"});
  REQUIRE(one.sinks.size() == 2);
  CHECK(one.sinks[1].api == "a");
  CHECK(one.count == 2);
  REQUIRE(one.occurrences.size() == 1);
  CHECK(one.occurrences.front().count == 2);
  REQUIRE(one.stacks.size() == 1);
  CHECK(one.stacks.front().backtrace.front().function == "a");
}

TEST_CASE("another caller of the function that the line is in makes no other finding") {
  const auto called_from = [](Finding one, int line) {
    one.path.front().backtrace.push_back({"python", "caller", "main.py", line, "", 0});
    one.backtrace.push_back({"python", "caller", "main.py", line, "", 0});
    return one;
  };
  SECTION("of an operator that widens") {
    std::vector<Finding> findings;
    for (const int line : {1, 2, 3, 2})
      findings.push_back(called_from(finding("a", "bfloat16", "float32", 3), line));
    findings[2].backtrace.front().line = findings[2].sinks.front().location.line = 7;
    findings[3].occurrences.front().pid = 8;
    merge_causes(findings);
    REQUIRE(findings.size() == 1);
    const Finding& one = findings.front();
    CHECK(one.count == 4);
    REQUIRE(one.sinks.size() == 2);
    CHECK(one.sinks[1].location.line == 7);
    REQUIRE(one.stacks.size() == 2);  // each once
    CHECK(one.stacks[0].backtrace.back().line == 2);
    CHECK(one.occurrences.size() == 2);
    CHECK(one.also_rules.empty());
  }
  SECTION("of an operator whose line is not known") {
    std::vector<Finding> findings = {finding("a", "bfloat16", "float32", 0),
                                     finding("a", "bfloat16", "float32", 0)};
    findings[1] = called_from(findings[1], 2);
    merge_causes(findings);
    CHECK(findings.size() == 2);
  }
  SECTION("of a factory, where the call is the same") {
    std::vector<Finding> findings;
    for (const int line : {1, 2, 3}) findings.push_back(called_from(finding("a", "", "float32", 3), line));
    findings[2].sinks.front().location.line = 7;
    merge_causes(findings);
    REQUIRE(findings.size() == 2);
    CHECK(findings[0].count == 2);
    CHECK(findings[1].sinks.front().location.line == 7);
  }
}

TEST_CASE("other lines, casts, narrowings, and findings of dtype-lint stay apart") {
  SECTION("two lines") {
    std::vector<Finding> findings = {finding("a", "bfloat16", "float32", 3),
                                     finding("b", "bfloat16", "float32", 4)};
    merge_causes(findings);
    CHECK(findings.size() == 2);
  }
  SECTION("an operator that narrows, and one of unknown operands") {
    for (const char* before : {"float32", ""}) {
      std::vector<Finding> findings = {finding("a", before, "bfloat16", 3),
                                       finding("b", before, "bfloat16", 3)};
      merge_causes(findings);
      CHECK(findings.size() == 2);
    }
  }
  SECTION("one that dtype-lint has found too") {
    std::vector<Finding> findings = {finding("a", "bfloat16", "float32", 3),
                                     finding("b", "bfloat16", "float32", 3)};
    findings[0].observed = {"static", "runtime"};
    merge_causes(findings);
    CHECK(findings.size() == 2);
  }
  SECTION("no origin") {
    std::vector<Finding> findings = {finding("a", "bfloat16", "float32", 3),
                                     finding("b", "bfloat16", "float32", 3)};
    for (Finding& one : findings) one.operands.front().origin.reset();
    merge_causes(findings);
    CHECK(findings.size() == 2);
  }
}
