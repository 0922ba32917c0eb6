#include <sstream>

#include "rules/report/report.h"
#include "sample_report.h"
#include "tests/catch.h"

using namespace dtype_guard;

namespace {

std::string written(const Report& report) {
  std::ostringstream out;
  write_json(out, report);
  return out.str();
}

std::string message(const std::string& text) {
  try {
    read_json(text, "r.json");
  } catch (const ReportError& error) {
    return error.what();
  }
  return "accepted";
}

std::string minimal(const std::string& finding, const std::string& more = "") {
  return "{\"schema\": \"dtype-guard/report/1\", \"tool\": {}" + more + ",\n\"findings\": [" + finding + "]}";
}

}  // namespace

TEST_CASE("a report reads back to the same bytes") {
  for (const Report& report : {test::static_report(), test::runtime_report()}) {
    const std::string text = written(report);
    CHECK(text.back() == '\n');
    CHECK(written(read_json(text, "r.json")) == text);
  }
}

TEST_CASE("readers ignore members that they do not know") {
  const Report report =
      read_json(minimal(R"({"rule": "discarded-cast", "fingerprint": "v1:0", "colour": [1, {"a": null}]})",
                        R"(, "future": true)"),
                "r.json");
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].rule == "discarded-cast");
  CHECK(report.findings[0].level == Level::kError);
  CHECK(report.findings[0].count == 1);
}

TEST_CASE("what is no report is refused with its place") {
  CHECK_THAT(message(""), Catch::StartsWith("r.json:1: found malformed JSON"));
  CHECK(message("{}") ==
        "r.json:1: /: found an empty object, expected a report with \"schema\": \"dtype-guard/report/1\"");
  CHECK(message(R"({"schema": "dtype-guard/contracts/1"})") ==
        "r.json:1: /schema: found \"dtype-guard/contracts/1\", expected a report with \"schema\": "
        "\"dtype-guard/report/1\"");
  CHECK(message(R"({"schema": "dtype-guard/report/1", "tool": {}})") ==
        "r.json:1: /: found an object, expected a member \"findings\"");
  CHECK(message(minimal(R"({"rule": 7})")) ==
        "r.json:2: /findings/0/rule: found the number 7, expected a string");
  CHECK(message(minimal(R"({})")) ==
        "r.json:2: /findings/0: found an empty object, expected a finding with a \"rule\"");
  CHECK(message(minimal(R"({"rule": "a", "level": "fatal"})")) ==
        "r.json:2: /findings/0/level: found \"fatal\", expected \"error\", \"warning\" or \"note\"");
  CHECK(message(minimal(R"({"rule": "a", "location": {"line": 99999999999}})")) ==
        "r.json:2: /findings/0/location/line: found the number 99999999999, expected a whole number from "
        "-2147483648 to "
        "2147483647");
  CHECK(message(
            minimal(R"({"rule": "a", "fingerprint": "v1:0", "operands": [{"origin": 1}], "path": [{}]})")) ==
        "r.json:2: /findings/0/operands/0/origin: found the number 1, expected an index into this finding's "
        "path of 1 "
        "steps");
  CHECK(message(minimal(R"({"rule": "a", "path": {}})")) ==
        "r.json:2: /findings/0/path: found an empty object, expected an array");
  CHECK(message(minimal(R"({"rule": "a"})")) ==
        "r.json:2: /findings/0: found an object, expected a finding with a \"fingerprint\"");
  CHECK(message(minimal(R"({"rule": "a", "fingerprint": "v1:0", "location": {"line": -4}})")) ==
        "r.json:2: /findings/0/location/line: found the number -4, expected a line from 1, or 0 where it is "
        "not known");
  CHECK(message(R"({"schema": "dtype-guard/report/1", "tool": {}, "findings": null})") ==
        "r.json:1: /: found an object, expected a member \"findings\"");
  CHECK(message(minimal("7")) == "r.json:2: /findings/0: found the number 7, expected an object");
}

TEST_CASE("a truncated report is refused wherever it ends") {
  const std::string text = written(test::runtime_report());
  for (std::size_t size = 0; size + 2 < text.size(); size += 7) {
    CAPTURE(size);
    CHECK_THROWS_AS(read_json(std::string_view(text).substr(0, size), "r.json"), ReportError);
  }
}

TEST_CASE("bytes that are no UTF-8 are replaced, not refused") {
  Report report = test::static_report();
  report.findings[0].message = "file \xff\xfe name";
  const std::string text = written(report);
  CHECK(text.find("file \xEF\xBF\xBD\xEF\xBF\xBD name") != std::string::npos);
  CHECK_NOTHROW(read_json(text, "r.json"));
}

TEST_CASE("the summary counts open findings only") {
  const Summary summary = summarise(test::static_report());
  CHECK(summary.errors == 1);
  CHECK(summary.warnings == 1);
  CHECK(summary.suppressed == 1);
  CHECK(summary.not_analysed == 1);
  CHECK(summary.files == 2);
  CHECK(summarise(test::runtime_report()).calls == 12);
  Report known = test::static_report();
  for (Finding& finding : known.findings) finding.baseline = "unchanged";
  CHECK(summarise(known).errors == 0);
  CHECK(summarise(known).unchanged == 2);
}
