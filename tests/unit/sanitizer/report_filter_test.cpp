// The options `rules`, `suppressions` and `expect` on a report.
#include "sanitizer/symbolize/report_filter.h"

#include <cstdio>
#include <fstream>

#include "tests/catch.h"

using namespace dtype_guard;
using namespace dtype_guard::san;

namespace {

Report sample() {
  Report report;
  report.watched.emplace();
  report.watched->calls["flash_ref_rotary"] = 3;
  Finding finding;
  finding.rule = "rotary-dtype-mismatch";
  finding.api = "flash_ref_rotary";
  StackFrame frame;
  frame.function = "ns::apply(int)";
  frame.file = "src/rope.cpp";
  frame.module = "/opt/libmodel.so";
  finding.backtrace.push_back(frame);
  report.findings.push_back(finding);
  return report;
}

struct TemporaryFile {
  std::string path = "report_filter_test.txt";
  explicit TemporaryFile(const std::string& text) { std::ofstream(path) << text; }
  ~TemporaryFile() { std::remove(path.c_str()); }
};

bool hidden_by(const std::string& line) {
  TemporaryFile file(line + "\n");
  Report report = sample();
  ReportFilter("", file.path, "").apply(report);
  return report.findings.at(0).suppression.has_value();
}

std::size_t kept_by(const std::string& rules) {
  Report report = sample();
  ReportFilter(rules, "", "").apply(report);
  return report.findings.size();
}

}  // namespace

TEST_CASE("a suppression's pattern meets function, file, module or API") {
  for (const char* line : {"rotary-dtype-mismatch:ns::apply", "*:rope.cpp", "rotary-*:*model.so",
                           "rotary-dtype-mismatch:flash_ref_rotary", "*:src/*.cpp"}) {
    CAPTURE(line);
    CHECK(hidden_by(line));
  }
  for (const char* line : {"attention-mixed-dtypes:ns::apply", "*:other", "*:apply*", "# *:ns::apply"}) {
    CAPTURE(line);
    CHECK_FALSE(hidden_by(line));
  }
}

TEST_CASE("a list of rules keeps, a minus takes away") {
  CHECK(kept_by("") == 1);
  CHECK(kept_by("rotary-dtype-mismatch, attention-*") == 1);
  CHECK(kept_by("attention-*") == 0);
  CHECK(kept_by("-rotary-*") == 0);
  CHECK(kept_by("*,-attention-*") == 1);
  CHECK_THROWS_AS(kept_by("rotary"), FilterError);
}

TEST_CASE("lines that say nothing usable are named") {
  const auto problem = [](const std::string& line) -> std::string {
    try {
      hidden_by(line);
    } catch (const FilterError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(problem("rotary-dtype-mismatch") ==
        "report_filter_test.txt:1: 'rotary-dtype-mismatch', expected RULE:PATTERN");
  CHECK(problem("\nrotari:x").find("report_filter_test.txt:2: unknown rule 'rotari'") == 0);
  CHECK_THROWS_AS(ReportFilter("", "no/such/file", ""), FilterError);
}

TEST_CASE("expected APIs that were not called are told") {
  Report report = sample();
  ReportFilter("", "", "flash_ref_rotary, flash_ref_other").apply(report);
  REQUIRE(report.not_analysed.size() == 1);
  CHECK(report.not_analysed[0].file == "flash_ref_other");
  CHECK(report.not_analysed[0].reason == "not-called");
}
