#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "rules/report/report.h"
#include "rules/report/source_snippet.h"
#include "sample_report.h"
#include "tests/catch.h"

using namespace dtype_guard;

namespace {

const std::filesystem::path kGolden = std::filesystem::path(DTYPE_GUARD_SOURCE_DIR) / "tests/golden/report";

std::string text_of(Report report, TextOptions options = {}) {
  report.root = kGolden.string();
  std::ostringstream out;
  write_text(out, report, options);
  return out.str();
}

std::string golden(const std::string& name) {
  std::ifstream in(kGolden / name, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// The snippet for a line of a file that holds just `line`.
std::string snippet(const std::string& line, int column, int end_column) {
  // Of this process: the cases run beside each other.
  const auto folder =
      std::filesystem::temp_directory_path() / ("dtype_guard_snippet_test." + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "line.cpp", std::ios::binary) << line << '\n';
  const std::string text = SourceSnippets(folder).of({"line.cpp", 1, column, 1, end_column, ""});
  std::filesystem::remove_all(folder);
  return text;
}

}  // namespace

TEST_CASE("a static report prints as compilers print") {
  CHECK(text_of(test::static_report()) == golden("static.txt"));
}

TEST_CASE("operands of the call at which the path ends are named, the path's own once") {
  Report report = test::static_report();
  Finding& finding = report.findings.front();
  REQUIRE_FALSE(finding.path.empty());
  finding.path.back().location = finding.sinks.front().location;
  finding.path.back().note = "reaches 'q' of 'flash_ref_attention_fwd'";
  CHECK(text_of(report).find("also reaches") == std::string::npos);
  finding.sinks.push_back(finding.sinks.front());
  finding.sinks.back().role = "k";
  const std::string text = text_of(report);
  CHECK(text.find("\n  also reaches: 'k'\n") != std::string::npos);
  CHECK(text.find("as k here") == std::string::npos);
}

TEST_CASE("a run-time report prints what was watched, operands and backtrace") {
  CHECK(text_of(test::runtime_report()) == golden("runtime.txt"));
}

TEST_CASE("quiet prints findings only, colour only when asked") {
  const std::string quiet = text_of(test::static_report(), {false, true});
  CHECK(quiet.find("files analysed") == std::string::npos);
  CHECK(quiet.find("broken.cpp: not analysed: parse-error: 3:1") != std::string::npos);  // exit status 3
  CHECK(quiet.find("suppressed") == std::string::npos);
  CHECK(quiet.find("error: ") != std::string::npos);
  CHECK(quiet.find('\x1b') == std::string::npos);
  CHECK(text_of(test::static_report(), {true, false}).find("\x1b[1;31merror:\x1b[0m") != std::string::npos);
}

TEST_CASE("a run in which no watched kernel was called is not called clean") {
  Report report = test::runtime_report();
  report.findings.clear();
  report.watched->calls = {{"flash_ref_attention_fwd", 0}};
  const std::string text = text_of(report);
  CHECK(text.find("no findings; no call to a watched kernel was seen\n") != std::string::npos);
  CHECK(text.find("clean") == std::string::npos);
}

TEST_CASE("what thousands of processes say alike is said once, with a count") {
  const auto lines_with = [](const std::string& text, const std::string& words) {
    std::istringstream lines(text);
    int count = 0;
    for (std::string line; std::getline(lines, line);) count += line.find(words) != std::string::npos ? 1 : 0;
    return count;
  };
  Report report = test::runtime_report();
  report.not_analysed.clear();
  for (int i = 0; i < 3000; ++i)
    report.not_analysed.push_back({"job." + std::to_string(i), "", "note", "2 children went unseen"});
  report.not_analysed.push_back({"job.3", "", "note", "another note"});
  for (int i = 0; i < 3; ++i)
    report.not_analysed.push_back({"file" + std::to_string(i), "f", "budget", "too many steps"});
  normalise(report);
  const std::string text = text_of(report);
  CHECK(lines_with(text, "2 children went unseen") == 1);
  CHECK(text.find("2 children went unseen\n    and 2999 more of the kind\n") != std::string::npos);
  CHECK(text.find("another note\n    and") == std::string::npos);
  CHECK(lines_with(text, "another note") == 1);
  CHECK(lines_with(text, "too many steps") == 3);  // each is another function
}

TEST_CASE("a remark on what was looked at is not called not analysed") {
  Report report = test::runtime_report();
  report.not_analysed = {{"job.1", "", "note", "under autocast the operators cast"},
                         {"model.py:3", "", "ranks-differ", "attend: 'q' is 'float32' on rank 1"},
                         {"job.2", "", "budget", "2 further distinct findings were not recorded"}};
  const std::string text = text_of(report);
  CHECK(text.find("\njob.1: note: under autocast the operators cast\n") != std::string::npos);
  CHECK(text.find("\nmodel.py:3: ranks-differ: attend: 'q' is 'float32' on rank 1\n") != std::string::npos);
  CHECK(text.find("\njob.2: not analysed: budget: 2 further") != std::string::npos);
}

TEST_CASE("what the baseline knows is counted, not printed") {
  Report report = test::static_report();
  for (Finding& finding : report.findings) finding.baseline = "unchanged";
  const std::string text = text_of(report);
  CHECK(text.find("error: q") == std::string::npos);
  CHECK(text.find("2 in the baseline") != std::string::npos);
}

TEST_CASE("the caret stands under its column") {
  CHECK(snippet("q * scale", 5, 10) == "    1 | q * scale\n      |     ^~~~~\n");
  CHECK(snippet("\tq", 2, 3) == "    1 |         q\n      |         ^\n");
  CHECK(snippet("\xC3\xA9 * q", 6, 7) == "    1 | \xC3\xA9 * q\n      |     ^\n");
  CHECK(snippet("q", 99, 120) == "    1 | q\n      |  ^\n");
  CHECK(snippet("q", 0, 0) == "    1 | q\n");
  CHECK(snippet("", 1, 1) == "    1 | \n      | ^\n");
}

TEST_CASE("a source line cannot disturb the terminal") {
  CHECK(snippet("a\x1b[2J\xff", 1, 2) == "    1 | a\xEF\xBF\xBD[2J\xEF\xBF\xBD\n      | ^\n");
  const std::string cut = snippet(std::string(5000, 'x') + "q" + std::string(5000, 'y'), 5001, 5002);
  CHECK(cut.size() < 400);
  CHECK(cut.find("    1 | ...xxx") == 0);
  CHECK(cut.find("| " + std::string(43, ' ') + "^\n") != std::string::npos);
}

TEST_CASE("far to the right the caret stands alone where no end is known") {
  const std::string cut = snippet(std::string(150, 'x'), 111, 0);
  CHECK(cut.find("| " + std::string(43, ' ') + "^\n") != std::string::npos);
}

TEST_CASE("an unreadable source leaves the snippet out") {
  CHECK(SourceSnippets("/nonexistent").of({"a.cpp", 3, 1, 3, 2, ""}).empty());
  CHECK(SourceSnippets("/").of({"dev/zero", 3, 1, 3, 2, ""}).empty());
  CHECK(SourceSnippets(kGolden).of({"model.cpp", 4000, 1, 4000, 2, ""}).empty());
}
