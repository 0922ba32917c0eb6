#include "rules/report/baseline.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "rules/report/format.h"
#include "sample_report.h"
#include "tests/catch.h"

using namespace dtype_guard;

namespace {

std::string baseline_text(const Report& report) {
  std::ostringstream out;
  write_baseline(out, report);
  return out.str();
}

std::vector<std::string> states(const Report& report) {
  std::vector<std::string> states;
  for (const Finding& finding : report.findings) states.push_back(finding.baseline);
  return states;
}

std::string message(const std::string& text) {
  try {
    read_baseline(text, "b.json");
  } catch (const ReportError& error) {
    return error.what();
  }
  return "accepted";
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("a baseline reads back, holds no lines and marks what is suppressed") {
  const std::string text = baseline_text(test::static_report());
  CHECK(text.find("\"line\"") == std::string::npos);
  const Baseline baseline = read_baseline(text, "b.json");
  REQUIRE(baseline.size() == 3);
  CHECK(baseline[0].rule == "attention-implicit-promotion");
  CHECK(baseline[1].level == Level::kWarning);
  CHECK_FALSE(baseline[0].suppressed);
  CHECK(baseline[2].suppressed);
  CHECK_NOTHROW(read_baseline(baseline_text(test::bad_utf8_report()), "b.json"));
}

TEST_CASE("new, unchanged and fixed are told apart though lines have moved") {
  const Baseline known = read_baseline(baseline_text(test::static_report()), "b.json");
  Report now = test::static_report();
  for (Finding& finding : now.findings) finding.location.line += 100;
  now.findings.erase(now.findings.begin() + 1);  // the discarded cast
  now.findings[1].suppression.reset();
  apply_baseline(now, known);
  CHECK(states(now) == Words{"fixed", "unchanged", "new"});
  CHECK(now.findings[0].rule == "discarded-cast");
  CHECK(summarise(now).errors == 1);
  CHECK(summarise(now).unchanged == 1);
  CHECK(summarise(now).fixed == 1);

  std::ostringstream text;
  write_text(text, now, {});
  const std::string named = "model.cpp: fixed: the result of this cast is not used, in '" +
                            test::static_report().findings[1].location.function + "' [discarded-cast]";
  CHECK_FALSE(test::static_report().findings[1].location.function.empty());
  CHECK(text.str().find(named) != std::string::npos);
  CHECK(text.str().find("1 error, 1 in the baseline, 1 fixed;") != std::string::npos);

  const std::string once = text.str();
  apply_baseline(now, known);
  std::ostringstream again;
  write_text(again, now, {});
  CHECK(again.str() == once);
  CHECK(read_baseline(baseline_text(now), "b.json").size() == 2);  // what is fixed leaves the baseline
}

TEST_CASE("a suppressed finding is compared with the baseline like any other, and counts as suppressed") {
  std::ostringstream report;
  write_json(report, test::static_report());
  for (const std::string& text : {baseline_text(test::static_report()), report.str()}) {
    const Baseline known = read_baseline(text, "b.json");
    Report now = test::static_report();
    apply_baseline(now, known);
    CHECK(states(now) == Words{"unchanged", "unchanged", "unchanged"});
    CHECK(summarise(now).suppressed == 1);
    CHECK(summarise(now).unchanged == 2);
    std::ostringstream sarif;
    write_sarif(sarif, now);
    CHECK(sarif.str().find("\"baselineState\": \"new\"") == std::string::npos);
    std::erase_if(now.findings, [](const Finding& finding) { return finding.suppression.has_value(); });
    apply_baseline(now, known);
    CHECK(states(now) == Words{"unchanged", "unchanged"});  // gone, and never asked after
  }
  Report later = test::static_report();
  for (Finding& finding : later.findings) finding.suppression = Suppression{"comment", "why", 1};
  Report open = test::static_report();
  for (Finding& finding : open.findings) finding.suppression.reset();
  apply_baseline(later, read_baseline(baseline_text(open), "b.json"));
  CHECK(states(later) == Words{"unchanged", "unchanged", "unchanged"});
}

TEST_CASE("a baseline of one file does not hide the same finding in another, unless the file is renamed") {
  const std::filesystem::path root = std::filesystem::temp_directory_path() / "dtype_guard_baseline_test";
  std::filesystem::create_directories(root);
  for (const char* name : {"a.cpp", "b.cpp"}) std::ofstream(root / name) << "\n";
  const auto report_of = [&](const std::vector<std::string>& files) {
    Report report;
    report.root = root.string();
    for (const std::string& file : files) {
      report.findings.push_back(test::static_report().findings.front());
      report.findings.back().location.file = file;
    }
    normalise(report);
    return report;
  };
  const auto marked = [&](const std::vector<std::string>& files, const std::vector<std::string>& known) {
    Report report = report_of(files);
    apply_baseline(report, read_baseline(baseline_text(report_of(known)), "b.json"));
    const std::vector<std::string> once = states(report);
    apply_baseline(report, read_baseline(baseline_text(report_of(known)), "b.json"));
    CHECK(states(report) == once);
    return once;
  };
  CHECK(marked({"b.cpp"}, {"a.cpp"}) == Words{"fixed", "new"});
  CHECK(marked({"a.cpp", "b.cpp"}, {"a.cpp"}) == Words{"unchanged", "new"});
  CHECK(marked({"b.cpp"}, {"a.cpp", "b.cpp"}) ==
        Words{"fixed", "unchanged"});  // the second of two, now the first
  CHECK(marked({"a.cpp", "a.cpp"}, {"a.cpp"}) == Words{"unchanged", "new"});
  std::filesystem::remove(root / "a.cpp");
  CHECK(marked({"b.cpp"}, {"a.cpp"}) == Words{"unchanged"});
  std::filesystem::remove_all(root);
}

TEST_CASE("what GitHub's log says of a baseline names what is gone") {
  Report now;
  apply_baseline(now, read_baseline(baseline_text(test::static_report()), "b.json"));
  std::ostringstream log;
  write_github(log, now);
  CHECK(log.str().find("fixed: model.cpp: the result of this cast is not used [discarded-cast]\n") !=
        std::string::npos);
  CHECK(log.str().find(", 2 fixed") != std::string::npos);
}

TEST_CASE("a partial run calls nothing fixed that it did not look at") {
  const Baseline known = read_baseline(baseline_text(test::static_report()), "b.json");
  Report broken;
  broken.not_analysed = {{"model.cpp", "", "parse-error", ""}};
  apply_baseline(broken, known);
  CHECK(broken.findings.empty());
  Report partial;
  apply_baseline(partial, known, [](const std::string& file) { return file != "model.cpp"; });
  CHECK(partial.findings.empty());
  apply_baseline(partial, known);
  CHECK(states(partial) == Words{"fixed", "fixed"});
}

TEST_CASE("a report serves as baseline, and anything else is refused with its place") {
  std::ostringstream report;
  write_json(report, test::static_report());
  CHECK(read_baseline(report.str(), "r.json").size() == 3);
  CHECK(message("").rfind("b.json:1: /: found malformed JSON", 0) == 0);
  CHECK(message("{}") ==
        "b.json:1: /: found an empty object, expected a baseline with \"schema\": "
        "\"dtype-guard/baseline/1\", as --write-baseline makes it");
  const std::string head = "{\"schema\": \"dtype-guard/baseline/1\",\n";
  CHECK(message(head + "\"x\": 1}") == "b.json:1: /: found an object, expected a member \"findings\"");
  CHECK(message(head + "\"findings\": 7}") == "b.json:2: /findings: found the number 7, expected an array");
  CHECK(message(head + "\"findings\": [{}]}") ==
        "b.json:2: /findings/0: found an empty object, expected a member \"fingerprint\"");
  CHECK(message(head + "\"findings\": [3]}") ==
        "b.json:2: /findings/0: found the number 3, expected an object");
  CHECK(message(head + "\"findings\": [{\"rule\": \"a\", \"rule\": \"a\"}]}") ==
        "b.json:2: /findings/0/rule: found the key \"rule\" twice, expected each key once");
  CHECK(message(head + "\"findings\": [{\"fingerprint\": \"v1:12\"}]}") ==
        "b.json:2: /findings/0/fingerprint: found \"v1:12\", expected \"v1:\" and 16 hexadecimal digits; "
        "make the "
        "baseline anew with --write-baseline");
  const std::string entry = head + "\"findings\": [{\"fingerprint\": \"v1:0123456789abcdef\", \"rule\": ";
  CHECK(message(entry + "\"discarded-cats\"}]}") ==
        "b.json:2: /findings/0/rule: found \"discarded-cats\", expected a rule's id, did you mean "
        "\"discarded-cast\"?; "
        "the baseline of another release is made anew with --write-baseline");
  CHECK(message(entry + "\"discarded-cast\"}]}") == "accepted");
  CHECK(message(head + "\"findings\": []}") == "accepted");
}
