#include "analyzer/driver/reporting.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <set>

#include "analyzer/driver/baselines.h"
#include "analyzer/driver/code_of_files.h"
#include "analyzer/driver/merge.h"
#include "analyzer/driver/spelled_calls.h"
#include "analyzer/driver/twins.h"
#include "analyzer/driver/version.h"
#include "analyzer/source/user_code.h"
#include "rules/catalog/catalog.h"
#include "rules/report/shown_place.h"
#include "rules/report/source_files.h"
#include "rules/report/suppressions.h"

namespace dtype_guard::driver {

namespace {

// Files, not compile commands; by name.
std::vector<std::string> files_read(const std::vector<FileSummary>& summaries) {
  std::map<std::string, bool> read;
  for (const FileSummary& each : summaries) {
    bool& whole = read.try_emplace(each.source, true).first->second;
    whole = whole && !each.failed();
  }
  std::vector<std::string> out;
  for (const auto& [file, whole] : read) {
    if (whole) out.push_back(file);
  }
  return out;
}

// What is only read for a header's sake: its own findings were not asked for.
bool only_carries(const std::string& file, const ReportScope& scope) {
  return scope.carriers.count(file) &&
         std::find(scope.headers.begin(), scope.headers.end(), file) == scope.headers.end();
}

// Comments for rules that were not asked for are not called stale.
SuppressionScope comments_of(const ReportScope& scope, const Options& options,
                             const std::vector<FileSummary>& summaries) {
  SuppressionScope looked_at;
  for (const FileSummary& each : summaries) {
    const bool again = !looked_at.files.empty() && looked_at.files.back() == each.source;
    if (!again && !only_carries(each.source, scope)) looked_at.files.push_back(each.source);
  }
  for (const Rule& rule : catalog()) {
    if (options.rules.enabled(rule.id)) looked_at.rules.push_back(rule.id);
  }
  return looked_at;
}

// Of a file that was read for a header's sake, only what concerns what was asked for: lines of headers,
// sources and what these include, and calls in the first two.
class AskedFor {
 public:
  AskedFor(const ReportScope& scope, const std::vector<FileSummary>& summaries)
      : everything_(scope.carriers.empty()), named_(scope.headers.begin(), scope.headers.end()) {
    for (const FileSummary& each : summaries) {
      if (scope.carriers.count(each.source)) continue;
      named_.insert(each.source);
      included_.insert(each.module.files.begin(), each.module.files.end());
    }
  }
  bool operator()(const SourceLocation& place) const { return holds(place.file); }
  bool operator()(const Finding& finding) const {
    return holds(finding.location.file) ||
           std::any_of(finding.sinks.begin(), finding.sinks.end(),
                       [&](const Sink& sink) { return named_.count(sink.location.file) != 0; });
  }

 private:
  bool holds(const std::string& file) const {
    return everything_ || named_.count(file) || included_.count(file);
  }
  bool everything_;
  std::set<std::string> named_, included_;
};

// What --rules and, for its file, the configuration leave of it.
bool applies(Finding& finding, const Options& options, const std::string& root) {
  const std::string& name = finding.location.file;
  const std::string file = name.starts_with('/') ? name : root + "/" + name;
  const auto leaves = [&](const Options::ForFiles& each) {
    const bool meant =
        std::any_of(each.patterns.begin(), each.patterns.end(),
                    [&](const std::string& pattern) { return source::matches_pattern(file, pattern); });
    return !meant || each.rules.apply(finding);
  };
  return options.rules.apply(finding) &&
         std::all_of(options.file_rules.begin(), options.file_rules.end(), leaves);
}

// "the dtype of 'k' is not known", for --strict.
NotAnalysed undecided(const CheckedCall& call, CodeOfFiles& code) {
  SourceLocation place = call.location;
  code.note_cell(place);
  const std::string what =
      call.reached ? fmt::format("the {} of '{}' {} not known", call.unknown.size() == 1 ? "dtype" : "dtypes",
                                 fmt::join(call.unknown, "', '"), call.unknown.size() == 1 ? "is" : "are")
      : call.given_up.empty()
          ? "no function that is evaluated comes to this call"
          : fmt::format("only functions over their budget come to this call: '{}'", call.given_up);
  return {call.location.file, call.location.function, std::string(kUndecided),
          fmt::format("{}: '{}' is not decided: {}", shown_place(place), call.api, what)};
}

// A fix that was not searched for must not look like one that does not exist.
void tell_limits(const std::vector<flow::UnfinishedSearch>& searches, const std::vector<Finding>& findings,
                 bool with_objections, CodeOfFiles& code) {
  for (const flow::UnfinishedSearch& each : searches) {
    SourceLocation at = each.location;
    const bool reported = std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
      return is_open(finding) && finding.rule == each.rule && finding.location.file == at.file &&
             finding.location.line == at.line && finding.location.column == at.column;
    });
    if (!reported || (each.limit.empty() && !with_objections)) continue;
    code.note_cell(at);
    const std::string why = each.limit.empty() ? fmt::format("; {}", code.with_cells(each.objection))
                                               : fmt::format(", and one may exist: {}", each.limit);
    std::cerr << fmt::format("dtype-lint: note: {}: no fix is offered for {}{}\n", shown_place(at), each.rule,
                             why);
  }
}

ProgramAnswer answer_of(std::vector<FileSummary> summaries, const Options& options, const ReportScope& scope,
                        const flow::SourceText& text) {
  ProgramAnswer out;
  if (scope.linked) {
    out.result = analyse_linked(*scope.linked, summaries, options, text, scope.refused);
  } else {
    out.not_lowered = calls_not_lowered(summaries, options.contracts, text);
    out.result = analyse_program(std::move(summaries), options, text, scope.refused, scope.groups);
  }
  if (scope.keep) scope.keep(out);
  return out;
}

// A notebook that is not in Python was opened and not analysed.
void leave_out_other_languages(Report& report) {
  std::erase_if(report.files, [&](const std::string& file) {
    return std::any_of(report.not_analysed.begin(), report.not_analysed.end(), [&](const NotAnalysed& each) {
      return each.reason == kOtherLanguage && each.file == file;
    });
  });
  report.files_analysed = report.files.size();
}

}  // namespace

Report report_on(std::vector<FileSummary> summaries, const std::string& root, const Options& options,
                 const ReportScope& scope) {
  Report report;
  report.tool = "dtype-lint";
  report.tool_version = kVersion;
  report.root = root;
  const SuppressionScope looked_at = comments_of(scope, options, summaries);
  const AskedFor asked_for(scope, summaries);
  report.files = files_read(summaries);
  report.files_analysed = report.files.size();
  SourceFiles read_now(root);
  SourceFiles& disk = scope.disk ? *scope.disk : read_now;
  CodeOfFiles code(disk, scope.texts);
  const auto text = [&](const std::string& file) { return code.text(file); };
  auto [result, unseen] = scope.known ? *scope.known : answer_of(std::move(summaries), options, scope, text);
  report.findings = std::move(result.findings);
  report.not_analysed = std::move(result.not_analysed);
  leave_out_other_languages(report);
  report.not_analysed.insert(report.not_analysed.end(), scope.missing.begin(), scope.missing.end());
  std::erase_if(report.findings, [&](Finding& finding) { return !applies(finding, options, root); });
  std::erase_if(report.findings, [&](const Finding& each) { return !asked_for(each); });
  for (CheckedCall& each : result.calls) {
    if (!asked_for(each.location)) continue;
    if (options.strict && !each.decided()) report.not_analysed.push_back(undecided(each, code));
    report.calls.push_back(std::move(each));
  }
  std::erase_if(unseen, [&](const UnseenCall& each) { return !asked_for(each.location); });
  unseen.insert(unseen.end(), std::make_move_iterator(result.unseen.begin()),
                std::make_move_iterator(result.unseen.end()));
  report.unseen = std::move(unseen);
  merge_equal(report.findings);
  merge_twins(report.findings, text);
  const auto read = [&](const std::string& file) {
    const std::string* found = text(file);
    return found ? std::optional(*found) : std::nullopt;
  };
  apply_suppressions(report, read, looked_at);
  std::erase_if(report.findings, [&](const Finding& each) { return options.rules.removed(each.rule); });
  std::vector<std::string> compared = looked_at.files;
  compared.insert(compared.end(), scope.headers.begin(), scope.headers.end());
  use_baselines(report, options, compared);
  if (options.changed) {
    std::erase_if(report.findings, [&](const Finding& each) {
      Finding in_file = each;
      code.count_in_file(in_file);
      return each.baseline != "fixed" && !options.changed->touches(in_file);
    });
  }
  code.note_cells(report);
  if (!scope.on_trial) tell_limits(result.without_fix, report.findings, options.fix || options.strict, code);
  return report;
}

}  // namespace dtype_guard::driver
