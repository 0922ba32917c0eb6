#include <nlohmann/json.hpp>
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

// A whole report whose first finding (the promotion) has another value at a place below it.
std::string with(const std::string& place, const nlohmann::json& value) {
  nlohmann::json report = nlohmann::json::parse(written(test::static_report()));
  report[nlohmann::json::json_pointer("/findings/0" + place)] = value;
  return report.dump();
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
  const nlohmann::json unknown = {1, {{"a", nullptr}}};
  CHECK(written(read_json(with("/colour", unknown), "r.json")) == written(test::static_report()));
  CHECK(written(read_json(with("/location/colour", unknown), "r.json")) == written(test::static_report()));
}

TEST_CASE("what is no report is refused with its place") {
  CHECK_THAT(message(""), Catch::StartsWith("r.json:1: /: found malformed JSON"));
  CHECK(message("{}") ==
        "r.json:1: /: found an empty object, expected a report with \"schema\": \"dtype-guard/report/1\"");
  CHECK(message(R"({"schema": "dtype-guard/contracts/1"})") ==
        "r.json:1: /schema: found \"dtype-guard/contracts/1\", expected a report with \"schema\": "
        "\"dtype-guard/report/1\"");
  CHECK(message(R"({"schema": "dtype-guard/report/1", "tool": {}})") ==
        "r.json:1: /: found an object, expected a member \"root\"");
  CHECK(message(with("", 7)) == "r.json:1: /findings/0: found the number 7, expected an object");
  CHECK(message(with("/level", "fatal")) ==
        "r.json:1: /findings/0/level: found \"fatal\", expected \"error\", \"warning\" or \"note\"");
  CHECK(message(with("/fingerprint", "")) ==
        "r.json:1: /findings/0/fingerprint: found \"\", expected a string of at least 1 bytes");
  CHECK(message(with("/location/line", 99999999999)) ==
        "r.json:1: /findings/0/location/line: found the number 99999999999, expected a whole number from "
        "0 to 2147483647");
  CHECK(message(with("/location/line", 1e30)) ==
        "r.json:1: /findings/0/location/line: found the number 1e+30, expected a whole number from "
        "0 to 2147483647");
  CHECK(message(with("/location/line", 2.5)) ==
        "r.json:1: /findings/0/location/line: found the number 2.5, expected a whole number");
  CHECK(message(with("/location/line", 2.0)) == "accepted");
  CHECK(message(with("/location/line", -4)) ==
        "r.json:1: /findings/0/location/line: found the number -4, expected a whole number from 0 to "
        "2147483647");
  CHECK(message(with("/operands/0/origin", 2)) ==
        "r.json:1: /findings/0/operands/0/origin: found the number 2, expected an index into this finding's "
        "path of 2 steps");
  CHECK(message(with("/path", nlohmann::json::object())) ==
        "r.json:1: /findings/0/path: found an empty object, expected an array");
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
