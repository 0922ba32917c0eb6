#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "rules/report/format.h"
#include "rules/report/harm.h"
#include "rules/report/json_stream.h"
#include "rules/report/sarif_run.h"
#include "rules/text/utf8.h"
#include "sample_report.h"
#include "tests/catch.h"

using namespace dtype_guard;

namespace {

std::string written(const Report& report, std::string_view format) {
  std::ostringstream out;
  find_format(format)->write(out, report, {});
  return out.str();
}

}  // namespace

TEST_CASE("formats are found by name and suggested for a misspelt one") {
  CHECK(output_formats().front().name == "text");
  for (const OutputFormat& format : output_formats()) {
    CHECK(find_format(format.name) == &format);
    CHECK_FALSE(format.description.empty());
  }
  for (const char* name : {"text", "json", "sarif", "html", "github", "gitlab", "rdjson"}) {
    CAPTURE(name);
    CHECK(find_format(name) != nullptr);
  }
  CHECK(find_format("") == nullptr);
  CHECK(find_format("xml") == nullptr);
  CHECK(names_of_formats().size() == output_formats().size());
  CHECK(format_names().rfind("text, json, sarif", 0) == 0);
}

TEST_CASE("every format takes every report, and none passes on bytes that are no UTF-8") {
  for (const Report& report : {test::static_report(), test::runtime_report(), test::baseline_report(),
                               test::bad_utf8_report(), Report{}}) {
    for (const OutputFormat& format : output_formats()) {
      CAPTURE(format.name);
      const std::string text = written(report, format.name);
      CHECK_FALSE(text.empty());
      CHECK(text.back() == '\n');
      CHECK(valid_utf8(text) == text);
    }
  }
}

TEST_CASE("text for people keeps letters that are not ASCII") {
  Report report = test::static_report();
  report.findings[0].message = "caf\u00e9 \u732b";
  for (const char* format : {"text", "github", "gitlab", "rdjson", "html"}) {
    CAPTURE(format);
    CHECK(written(report, format).find("caf\u00e9 \u732b") != std::string::npos);
  }
}

TEST_CASE("control characters in names, messages and reasons reach no terminal and forge no line") {
  Report report = test::bad_utf8_report();
  report.findings[0].baseline = "fixed";
  report.findings[1].fixes = {{"a\x1b[2J\nforged: error: b", false, {}}};
  Report watched = test::runtime_report();
  watched.findings[0].backtrace[0] = {"c++", "f\nforged", "a\nforged.cpp", 3, "m", 0};
  watched.findings[0].occurrences[0].host = "h\nforged";
  watched.watched->libraries[0].path = "l\nforged\xc2\x9b";
  watched.watched->processes[0].host = "h\nforged";
  watched.watched->sources[0].why = "why\nforged";
  for (const Report& each : {report, watched}) {
    for (const OutputFormat& format : output_formats()) {
      CAPTURE(format.name);
      const std::string text = written(each, format.name);
      const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\n'; };
      CHECK(std::none_of(text.begin(), text.end(), is_control));
      CHECK(text.find("\nforged") == std::string::npos);
      if (format.name == "text") CHECK(text.find("\xc2\x9b") == std::string::npos);
      CHECK(text.find("\n]]") == std::string::npos);
    }
  }
  CHECK(written(report, "text").find("bad/<b>\"\\\\x80\\xff%:,\\x0a\\x1b]]></script>\\xe2(\\xa1:5") !=
        std::string::npos);
}

TEST_CASE("reading a report back and writing it again changes nothing, in every format") {
  for (const Report& report : {test::static_report(), test::baseline_report(), test::runtime_report()}) {
    const Report again = read_json(written(report, "json"), "r.json");
    for (const OutputFormat& format : output_formats()) {
      CAPTURE(format.name);
      CHECK(written(again, format.name) == written(report, format.name));
    }
  }
  const std::string odd = written(test::bad_utf8_report(), "json");
  CHECK(written(read_json(odd, "r.json"), "json") == odd);
}

TEST_CASE("the JSON stream writes what a JSON library writes") {
  for (const Report& report : {test::runtime_report(), test::bad_utf8_report(), Report{}}) {
    const std::string text = written(report, "json");
    CHECK(nlohmann::ordered_json::parse(text).dump(2) + "\n" == text);
  }
  std::ostringstream out;
  {
    JsonStream json(out, 0, true);
    json.begin_array();
    json.value("</script>&\x01");
    json.begin_object();
    json.end_object();
    json.value(true);
    json.end_array();
  }
  CHECK(out.str() == "[\"\\u003c/script\\u003e\\u0026\\u0001\",{},true]");
}

TEST_CASE("broken UTF-8 is replaced start by start") {
  CHECK(valid_utf8("caf\xC3\xA9 \xF0\x9F\x98\x80") == "caf\xC3\xA9 \xF0\x9F\x98\x80");
  CHECK(valid_utf8("\xE2\x28\xA1") == "\xEF\xBF\xBD(\xEF\xBF\xBD");
  CHECK(valid_utf8("\xF0\x9F\x98") == "\xEF\xBF\xBD");  // cut short
  CHECK(first_bytes("a\xF0\x9F\x98\x80"
                    "b",
                    4) == "a");
  CHECK(first_bytes("a\xF0\x9F\x98\x80"
                    "b",
                    5) == "a\xF0\x9F\x98\x80");
  CHECK(valid_utf8("\xC0\xAF") == "\xEF\xBF\xBD\xEF\xBF\xBD");  // overlong
  CHECK(valid_utf8("\xED\xA0\x80") == "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(utf16_length("a\xC3\xA9\xF0\x9F\x98\x80\xff") == 5);
}

TEST_CASE("harm puts certain errors and lost kernels first") {
  const Report report = test::static_report();
  const std::vector<const Finding*> ordered = by_harm(report);
  REQUIRE(ordered.size() == 3);
  CHECK(ordered[1]->rule == "discarded-cast");
  CHECK(ordered.back()->suppression);
  CHECK(harm(*ordered.front()).kernel_lost);
  CHECK(harm(*ordered.front()).extra_bytes == 2);  // float32 where half is accepted
  CHECK_FALSE(harm(*ordered[1]).kernel_lost);
}

TEST_CASE("SARIF leads to the pages of the tool and of its rules where these are published") {
  const Report report = test::static_report();
  const auto driver = [&](const sarif::Pages& pages) {
    std::ostringstream out;
    {
      JsonStream json(out, 1);  // writes when it ends
      json.begin_object();
      sarif::write_tool(json, report, sarif::rule_indices(report), pages);
      json.end_object();
    }
    return nlohmann::json::parse(out.str())["tool"]["driver"];
  };
  const auto published = driver({"https://example.org/guard", "https://example.org/guard/rules"});
  CHECK(published["informationUri"] == "https://example.org/guard");
  for (const auto& rule : published["rules"]) {
    if (!rule.contains("help")) continue;  // of a tool of its own
    CHECK(rule["helpUri"] == "https://example.org/guard/rules/" + rule["id"].get<std::string>() + ".md");
  }
  const auto unpublished = driver({});
  CHECK_FALSE(unpublished.contains("informationUri"));
  for (const auto& rule : unpublished["rules"]) CHECK_FALSE(rule.contains("helpUri"));
}
