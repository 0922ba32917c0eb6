// Annotations of GitHub Actions: workflow commands that the runner turns into marks on the changed lines. A
// step shows ten of each level, so the worst come first and one line says how many stay unseen.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ostream>

#include "rules/report/format.h"
#include "rules/report/harm.h"
#include "rules/report/shown_place.h"
#include "rules/report/sight.h"
#include "rules/text/printable.h"
#include "rules/text/utf8.h"

namespace dtype_guard {
namespace {

constexpr std::size_t kPerLevel = 10;
constexpr std::size_t kFailures = 3;

std::string_view command(Level level) {
  switch (level) {
    case Level::kError:
      return "error";
    case Level::kWarning:
      return "warning";
    case Level::kNote:
      return "notice";
  }
  return "notice";
}

// Line ends would end the command; in properties ':' and ',' would end the value. Other control characters
// would steer the terminal that the log is read in.
std::string escaped(std::string_view text, bool property) {
  std::string safe;
  for (char c : valid_utf8(text)) {
    const bool special = c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','));
    if (special) {
      safe += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      const bool whole = c == '\t' || static_cast<unsigned char>(c) >= 0x80;  // bytes of longer characters
      safe += whole ? std::string(1, c) : printable(std::string_view(&c, 1));
    }
  }
  return safe;
}

// GitHub takes columns only for ranges within one line.
std::string properties(const Finding& finding) {
  const SourceLocation& at = finding.location;
  std::string text;
  if (!at.file.empty()) text += fmt::format("file={},", escaped(at.file, true));
  if (at.line > 0) text += fmt::format("line={},", at.line);
  if (at.line > 0 && at.end_line > at.line) text += fmt::format("endLine={},", at.end_line);
  if (at.column > 0 && at.end_line <= at.line) {
    text += fmt::format("col={},", at.column);
    if (at.end_column > at.column) text += fmt::format("endColumn={},", at.end_column);
  }
  return text + "title=" + escaped(finding.rule, true);
}

std::string step_line(const PathStep& step) {
  std::string text =
      fmt::format("\n  {}: {}", shown_line(step.location), step.note.empty() ? step.op : step.note);
  if (!step.before.empty() && !step.after.empty()) {
    text += fmt::format(" ({} -> {})", step.before, step.after);
  } else if (!step.after.empty()) {
    text += fmt::format(" ({})", step.after);
  }
  return text;
}

std::string message(const Finding& finding) {
  std::string text = finding.certainty == Certainty::kPossible ? "possibly: " : "";
  text += finding.message + cell_words(finding.location);
  for (const PathStep& step : finding.path) text += step_line(step);
  for (const Fix& fix : finding.fixes) text += "\nfix: " + fix.title;
  return text;
}

}  // namespace

void write_github(std::ostream& out, const Report& report) {
  std::array<std::size_t, 3> shown{};
  std::size_t unseen = 0;
  // First, so that the findings below are not taken for all; but few enough that some findings are shown.
  for (const NotAnalysed& entry : report.not_analysed) {
    if (entry.reason == kUndecided) {  // the file was analysed, and the detail opens with the call's place
      out << printable(entry.detail) << '\n';
      continue;
    }
    const std::string why = entry.reason + (entry.detail.empty() ? "" : ": " + entry.detail);
    std::size_t& errors = shown.at(static_cast<std::size_t>(Level::kError));
    if (is_failure(entry) && errors < kFailures) {
      ++errors;
      out << fmt::format("::error file={},title=not analysed::{}\n", escaped(entry.file, true),
                         escaped(why, false));
    } else {
      out << fmt::format("{}: {}{}\n", printable(entry.file), before_reason(entry), printable(why));
    }
  }
  for (const Finding* finding : by_harm(report)) {
    if (!is_open(*finding)) continue;
    std::size_t& of_level = shown.at(static_cast<std::size_t>(finding->level));
    if (of_level == kPerLevel) {
      ++unseen;
      continue;
    }
    ++of_level;
    out << fmt::format("::{} {}::{}\n", command(finding->level), properties(*finding),
                       escaped(message(*finding), false));
  }
  // What is gone is a line of the log: an annotation would look like a finding.
  for (const Finding& finding : report.findings) {
    if (finding.baseline != "fixed") continue;
    out << fmt::format("fixed: {}: {} [{}]\n", printable(finding.location.file), printable(finding.message),
                       finding.rule);
  }
  const Summary summary = summarise(report);
  out << fmt::format("{}: {} errors, {} warnings, {} notes, {} suppressed, {} in the baseline{}", report.tool,
                     summary.errors, summary.warnings, summary.notes, summary.suppressed, summary.unchanged,
                     left_out(report));
  if (summary.fixed > 0) out << fmt::format(", {} fixed", summary.fixed);
  if (unseen > 0) {
    out << fmt::format("; {} more than GitHub shows for a step are not annotated: see another format",
                       unseen);
  }
  if (!report.watched) out << "; " << sight(report);
  if (const std::string left = unseen_calls(report); !left.empty()) out << "; " << left;
  out << '\n';
}

}  // namespace dtype_guard
