#include "rules/report/suppressions.h"

#include <map>
#include <sstream>

#include "rules/report/comments.h"
#include "sample_report.h"
#include "tests/catch.h"

using namespace dtype_guard;

namespace {

using Sources = std::map<std::string, std::string>;

// A finding of attention-mixed-dtypes at line 2, whose call is at line 5.
Report report_with_one(const std::string& file) {
  Report report;
  report.tool = "dtype-lint";
  Finding finding;
  finding.rule = "attention-mixed-dtypes";
  finding.location = {file, 2, 3, 2, 9, "attend"};
  finding.sinks = {{"flash_ref_attention_fwd", "q", {file, 5, 1, 5, 4, "attend"}}};
  report.findings = {finding};
  normalise(report);
  return report;
}

Report applied(Report report, const Sources& sources, const SuppressionScope& scope = {}) {
  const SourceReader read = [&](const std::string& file) -> std::optional<std::string> {
    const auto at = sources.find(file);
    return at == sources.end() ? std::nullopt : std::optional<std::string>(at->second);
  };
  apply_suppressions(report, read, scope);
  return report;
}

// "hidden: reason" or "shown", then the notes as "line rule message".
std::vector<std::string> outcome(const std::string& source, const std::string& file = "a.cpp",
                                 const SuppressionScope& scope = {}) {
  std::vector<std::string> said = {"shown"};
  for (const Finding& finding : applied(report_with_one(file), {{file, source}}, scope).findings) {
    if (finding.level != Level::kNote) {
      if (finding.suppression) said[0] = "hidden: " + finding.suppression->reason;
    } else {
      said.push_back(std::to_string(finding.location.line) + " " + finding.rule + " " + finding.message);
    }
  }
  return said;
}

using Said = std::vector<std::string>;

}  // namespace

TEST_CASE("a suppression of any rule that the finding breaks holds") {
  Report report = report_with_one("a.cpp");
  report.findings[0].also_rules = {"attention-unsupported-dtype"};
  const auto hidden = [&](const std::string& rule) {
    const Report done = applied(report, {{"a.cpp", "\n q * s;  // NOLINT(dtype-" + rule + "): why\n"}});
    return done.findings.at(0).suppression.has_value() && done.findings.size() == 1;
  };
  CHECK(hidden("attention-unsupported-dtype"));
  CHECK(hidden("attention-mixed-dtypes"));
  CHECK_FALSE(hidden("discarded-cast"));
}

TEST_CASE("a glob over the names of all checks hides what it fits, as in clang-tidy") {
  CHECK(outcome("\n q * s;  // NOLINT(*-mixed-dtypes, bugprone-*): measured\n") == Said{"hidden: measured"});
  CHECK(outcome("\n q * s;  // NOLINT(d*pe-a*): measured\n") == Said{"hidden: measured"});
  CHECK(outcome("\n q * s;  // NOLINT(*-mixed, attention*)\n") == Said{"shown"});
  CHECK(outcome("// NOLINTBEGIN(*-dtypes)\n q * s;\n // NOLINTEND(*-dtypes)\n") == Said{"hidden: "});
}

TEST_CASE("NOLINT with our rule and a reason hides on the promoting line and on the call") {
  CHECK(outcome("\n q * s;  // NOLINT(dtype-attention-mixed-dtypes): measured\n") ==
        Said{"hidden: measured"});
  CHECK(outcome("\n q * s;  /* NOLINT(dtype-attention-mixed-dtypes): measured */\n") ==
        Said{"hidden: measured"});
  CHECK(outcome("// NOLINTNEXTLINE(dtype-attention-mixed-dtypes): measured\n q;\n") ==
        Said{"hidden: measured"});
  CHECK(outcome("\n\n\n\nf(q);  // NOLINT(bugprone-x, dtype-attention-mixed-dtypes) known\n") ==
        Said{"hidden: known"});
  CHECK(outcome("// NOLINTBEGIN(dtype-attention-*): old code\n q;\n// NOLINTEND(dtype-attention-*)\n") ==
        Said{"hidden: old code"});
}

TEST_CASE("a rule as reports print it, and Python's form, hide in C++ too") {
  CHECK(outcome("\n q * s;  // NOLINT(attention-mixed-dtypes): measured\n") == Said{"hidden: measured"});
  CHECK(outcome("\n q * s;  // NOLINT(bugprone-x, attention-mixed-dtypes): both\n") == Said{"hidden: both"});
  CHECK(outcome("\n q * s;  // dtype-lint: ignore[attention-mixed-dtypes] measured\n") ==
        Said{"hidden: measured"});
  CHECK(outcome("\n q * s;  /* dtype-lint: ignore[attention-mixed-dtypes] measured */\n") ==
        Said{"hidden: measured"});
  CHECK(outcome("\n q;  // NOLINT(attention-implicit-promotion): x\n").size() == 2);  // called stale
  CHECK(outcome("\n q;  // NOLINT(attention): another tool's\n") == Said{"shown"});
}

TEST_CASE("general comments hide, and are neither stale nor without reason") {
  CHECK(outcome("\n q * s;  // NOLINT\n") == Said{"hidden: "});
  CHECK(outcome("\n q * s;  // NOLINT(*): generated\n") == Said{"hidden: generated"});
  CHECK(outcome("// NOLINT\n") == Said{"shown"});
  CHECK(outcome("\n q * s;  // NOLINT(bugprone-narrowing)\n") == Said{"shown"});
  CHECK(outcome("\n q * s;  // NOLINTED by hand\n") == Said{"shown"});
}

TEST_CASE("a missing reason and a stale comment are noted") {
  CHECK(outcome("\n q;  // NOLINT(dtype-attention-mixed-dtypes)\n") ==
        Said{"hidden: ",
             "2 suppression-without-reason this suppression gives no reason; write one behind it, as in "
             "'NOLINT(dtype-<rule>): reason' or '# dtype-lint: ignore[<rule>] reason'"});
  CHECK(outcome("\n\n q;  // NOLINT(dtype-discarded-cast): why\n") ==
        Said{"shown", "3 stale-suppression this suppression of 'discarded-cast' hides nothing; remove it"});
  CHECK(outcome("\n q;  // NOLINT(dtype-discarded-casts): why\n") ==
        Said{"shown",
             "2 stale-suppression this suppression names no rule: 'discarded-casts', did you mean "
             "'discarded-cast'?"});
  CHECK(outcome("// NOLINTBEGIN(dtype-*): why\n q;\n")[1].find("NOLINTBEGIN has no NOLINTEND") !=
        std::string::npos);
  CHECK(outcome("// NOLINTEND(dtype-*): why\n q;\n")[1].find("NOLINTEND has no NOLINTBEGIN") !=
        std::string::npos);
}

TEST_CASE("what did not run, or was not analysed, is not called stale") {
  const std::string source = "\n\n q;  // NOLINT(dtype-discarded-cast): why\n";
  CHECK(outcome(source, "a.cpp", {{}, {"attention-mixed-dtypes"}}) == Said{"shown"});
  Report report = report_with_one("a.cpp");
  report.not_analysed = {{"a.cpp", "", "budget", ""}};
  CHECK(applied(report, {{"a.cpp", source}}).findings.size() == 1);
  Report empty;
  CHECK(applied(empty, {{"a.cpp", source}}, {{"a.cpp"}, {}}).findings.size() == 1);
}

TEST_CASE("Python comments") {
  CHECK(outcome("\nq = q * s  # dtype-lint: ignore[attention-mixed-dtypes] measured\n", "a.py") ==
        Said{"hidden: measured"});
  CHECK(outcome("\nq = q * s  # dtype-lint: ignore measured\n", "a.py") == Said{"hidden: measured"});
  CHECK(outcome("\nq = '# dtype-lint: ignore[attention-mixed-dtypes] x'\n", "a.py") == Said{"shown"});
  CHECK(outcome("\nq = q * s  # NOLINT(dtype-attention-mixed-dtypes): x\n", "a.py") == Said{"shown"});
  CHECK(outcome("\nq = q  # dtype-lint: ignore[attention-mixed-dtypes]\n", "a.py").size() == 2);
}

TEST_CASE("only comments count, wherever strings try to look like them") {
  CHECK(outcome("\n auto s = \"// NOLINT(dtype-attention-mixed-dtypes): x\";\n") == Said{"shown"});
  CHECK(outcome("\n auto s = R\"x(// NOLINT\n)x\";\n") == Said{"shown"});
  CHECK(outcome("auto n = 1'000;\n q = '\"';  // NOLINT: x\n") == Said{"hidden: x"});
  CHECK(outcome("auto s = \"a\\\"\";\n q;  // NOLINT: x\n") == Said{"hidden: x"});
  CHECK(outcome("/* first\n NOLINT: inside */ q;\n") == Said{"hidden: inside"});
  CHECK(cpp_comments("/* never closed").size() == 1);
  CHECK(code_of("a.py", "f('a')  # b\n\"\"\"c\nd\"\"\" e") == "f(   )     \n    \n     e");
  CHECK(code_of("a.cpp", "f(R\"(a)\"); // b\n'c' /*\n*/ d") == "f(      );     \n      \n   d");
  CHECK(cpp_comments("R\"(never closed // x").empty());
  CHECK(python_comments("'''doc # no\n''' # yes").at(0).line == 2);
  CHECK(python_comments("\"\\").empty());
}

TEST_CASE("one of several calls does not speak for the others") {
  Report report = report_with_one("a.cpp");
  report.findings[0].sinks.push_back({"flash_ref_attention_fwd", "k", {"a.cpp", 7, 1, 7, 4, "attend"}});
  const std::string first = "\n\n\n\nf(q);  // NOLINT: x\n\nf(k);\n";
  const std::string last = "\n\n\n\nf(q);\n\nf(k);  // NOLINT: x\n";
  const std::string both = "\n\n\n\nf(q);  // NOLINT: x\n\nf(k);  // NOLINT: x\n";
  for (const std::string& one : {first, last})
    CHECK_FALSE(applied(report, {{"a.cpp", one}}).findings[0].suppression);
  CHECK(applied(report, {{"a.cpp", both}}).findings[0].suppression);
}

TEST_CASE("applying suppressions twice changes nothing, and a missing file is no error") {
  const Sources sources = {
      {"a.cpp", "\n q;  // NOLINT(dtype-attention-mixed-dtypes, dtype-discarded-cast)\n"}};
  const Report once = applied(report_with_one("a.cpp"), sources);
  CHECK(once.findings.size() == 3);
  std::ostringstream first, second;
  write_json(first, once);
  write_json(second, applied(once, sources));
  CHECK(first.str() == second.str());
  CHECK(applied(report_with_one("a.cpp"), {}).findings.size() == 1);
  const Report read = test::static_report();
  CHECK_FALSE(source_reader(read)("nowhere.cpp"));
}
