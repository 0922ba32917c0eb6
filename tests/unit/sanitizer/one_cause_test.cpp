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
