// Reading a report asks for all that its schema asks for. The broken reports are made from the schema itself,
// so that a member that is added there and not demanded by the reader fails here.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "rules/report/baseline.h"
#include "rules/report/report.h"
#include "sample_report.h"
#include "tests/catch.h"

using namespace dtype_guard;
using Json = nlohmann::ordered_json;

namespace {

// The sample reports with every part of a report in them, so that each of the schema's objects is met.
std::vector<Json> whole_reports() {
  std::vector<Json> reports;
  for (Report report : {test::static_report(), test::runtime_report()}) {
    for (Finding& finding : report.findings) {
      finding.location.cell = NotebookCell{2, 3, 4, 3, 9};
      for (PathStep& step : finding.path) step.backtrace = {{"c++", "f", "model.cpp", 3, "model", 16}};
    }
    std::ostringstream out;
    write_json(out, report);
    reports.push_back(Json::parse(out.str()));
  }
  return reports;
}

std::string answer(const Json& report) {
  try {
    read_json(report.dump(2), "r.json");
  } catch (const ReportError& error) {
    return error.what();
  }
  return "accepted";
}

// Walks a report along its schema and breaks it at each place, one way at a time.
class Breaker {
 public:
  Breaker() : schema_(Json::parse(report_schema())) {}

  void walk(Json& report) {
    report_ = &report;
    part(schema_, "", "report");
  }

  std::set<std::string> demanded;  // "finding.rule": missing, and refused
  std::set<std::string> optional;  // missing, and accepted
  int wrong_types = 0, wrong_words = 0, too_small = 0;

  // The members that the schema requires, as `demanded` names them.
  std::set<std::string> required() const {
    std::set<std::string> all;
    required_of(schema_, "report", all);
    for (const auto& [name, definition] : schema_["definitions"].items()) required_of(definition, name, all);
    return all;
  }

 private:
  static void required_of(const Json& schema, const std::string& name, std::set<std::string>& all) {
    const Json required = schema.value("required", Json::array());
    for (const Json& key : required) all.insert(name + "." + key.get<std::string>());
    if (schema.contains("items")) required_of(schema["items"], name, all);
    const Json properties = schema.value("properties", Json::object());
    for (const auto& [key, property] : properties.items()) required_of(property, name + "." + key, all);
  }

  Json& at(const std::string& pointer) const { return (*report_)[Json::json_pointer(pointer)]; }

  // The report with another value at a place must be refused for that place.
  void refused(const std::string& pointer, const Json& instead, const std::string& named) const {
    const Json before = at(pointer);
    at(pointer) = instead;
    const std::string said = answer(*report_);
    at(pointer) = before;
    CAPTURE(pointer, instead.dump(), said);
    CHECK(said.rfind("r.json:", 0) == 0);
    CHECK(said.find(fmt::format(": {}: found ", pointer.empty() ? "/" : pointer)) != std::string::npos);
    CHECK(said.find(named) != std::string::npos);
  }

  void part(const Json& schema, const std::string& pointer, const std::string& name, bool or_null = false) {
    if (schema.contains("$ref")) {
      const std::string to = schema["$ref"].get<std::string>().substr(1);
      return part(schema_[Json::json_pointer(to)], pointer, to.substr(to.rfind('/') + 1), or_null);
    }
    if (schema.contains("anyOf")) {
      if (!at(pointer).is_null()) part(schema["anyOf"][0], pointer, name, true);
      return;
    }
    break_value(schema, pointer, or_null);
    if (at(pointer).is_object()) break_members(schema, pointer, name);
    if (!schema.contains("items")) return;
    for (std::size_t i = 0; i < at(pointer).size(); ++i)
      part(schema["items"], fmt::format("{}/{}", pointer, i), name);
  }

  void break_value(const Json& schema, const std::string& pointer, bool or_null) {
    if (schema.contains("type")) {
      const bool may_be_null = or_null || schema["type"].is_array();
      const bool holds_objects = schema["type"] == "object";
      refused(pointer, holds_objects ? Json(7) : Json::object(), "expected ");
      if (!may_be_null) refused(pointer, nullptr, "found null");
      ++wrong_types;
    }
    if (schema.contains("enum") || schema.contains("const")) {
      refused(pointer, "no such word", "\"no such word\"");
      ++wrong_words;
    }
    if (schema.contains("minimum")) {
      refused(pointer, -1, "a whole number from 0");
      ++too_small;
    }
  }

  void break_members(const Json& schema, const std::string& pointer, const std::string& name) {
    const Json required = schema.value("required", Json::array());
    const Json properties = schema.value("properties", Json::object());
    for (const auto& [key, property] : properties.items()) {
      if (!at(pointer).contains(key)) continue;
      Json without = at(pointer);
      without.erase(key);
      if (std::find(required.begin(), required.end(), key) != required.end()) {
        // The one that says what the text is at all has words of its own.
        refused(pointer, without,
                key == "schema" ? "\"schema\"" : fmt::format("expected a member \"{}\"", key));
        demanded.insert(name + "." + key);
      } else {
        const Json before = std::exchange(at(pointer), without);
        CHECK(answer(*report_) == "accepted");
        at(pointer) = before;
        optional.insert(name + "." + key);
      }
      part(property, pointer + "/" + key, name + "." + key);
    }
  }

  const Json schema_;
  Json* report_ = nullptr;
};

}  // namespace

TEST_CASE("a report without a member that its schema requires is refused, and so is one of a wrong type") {
  Breaker breaker;
  for (Json& report : whole_reports()) {
    REQUIRE(answer(report) == "accepted");
    breaker.walk(report);
  }
  CHECK(breaker.demanded == breaker.required());
  CHECK(breaker.demanded.size() > 80);
  CHECK(breaker.optional ==
        std::set<std::string>{"checked_call.operands", "location.cell", "report.calls", "report.files",
                              "report.unseen_calls", "summary.fixed", "summary.known", "summary.operands",
                              "summary.undecided", "summary.unseen", "watched.processes.hook_us",
                              "watched.processes.joined", "watched.processes.replaced_by"});
  CHECK(breaker.wrong_types > 200);
  CHECK(breaker.wrong_words > 10);
  CHECK(breaker.too_small > 30);
}

TEST_CASE("a baseline's members are held against its schema") {
  const auto said = [](const std::string& entry) -> std::string {
    try {
      read_baseline("{\"schema\": \"dtype-guard/baseline/1\", \"findings\": [\n" + entry + "]}", "b.json");
    } catch (const ReportError& error) {
      return error.what();
    }
    return "accepted";
  };
  CHECK(said(R"({"fingerprint": "v1:0123456789abcdef"})") == "accepted");
  CHECK(said(R"({"fingerprint": ""})") ==
        "b.json:2: /findings/0/fingerprint: found \"\", expected a string of at least 1 bytes");
  CHECK(said(R"({"fingerprint": "v1:0123456789abcdef", "file": 3})") ==
        "b.json:2: /findings/0/file: found the number 3, expected a string");
  CHECK(said(R"({"fingerprint": "v1:0123456789abcdef", "level": "fatal"})") ==
        R"(b.json:2: /findings/0/level: found "fatal", expected "error", "warning" or "note")");
}
