#include "analyzer/driver/reporting.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "analyzer/driver/baselines.h"
#include "analyzer/driver/merge.h"
#include "analyzer/driver/program.h"
#include "analyzer/driver/version.h"
#include "rules/catalog/catalog.h"
#include "rules/report/source_files.h"
#include "rules/report/suppressions.h"

namespace dtype_guard::driver {

namespace {

// Files, not compile commands.
std::uint64_t files_read(const std::vector<FileSummary>& summaries) {
  std::map<std::string, bool> read;
  for (const FileSummary& each : summaries) {
    bool& whole = read.try_emplace(each.source, true).first->second;
    whole = whole && !each.failed();
  }
  return static_cast<std::uint64_t>(
      std::count_if(read.begin(), read.end(), [](const auto& each) { return each.second; }));
}

// Comments for rules that were not asked for are not called stale.
SuppressionScope scope_of(const Options& options, const std::vector<FileSummary>& summaries) {
  SuppressionScope scope;
  for (const FileSummary& each : summaries) {
    if (scope.files.empty() || scope.files.back() != each.source) scope.files.push_back(each.source);
  }
  for (const Rule& rule : catalog()) {
    if (options.rules.enabled(rule.id)) scope.rules.push_back(rule.id);
  }
  return scope;
}

// Of a file that a header was analysed through, only what concerns the header was asked for.
void keep_those_of(const std::vector<std::string>& headers, std::vector<Finding>& findings) {
  const auto of_header = [&](const SourceLocation& location) {
    return std::find(headers.begin(), headers.end(), location.file) != headers.end();
  };
  if (headers.empty()) return;
  std::erase_if(findings, [&](const Finding& each) {
    return !of_header(each.location) &&
           std::none_of(each.sinks.begin(), each.sinks.end(),
                        [&](const Sink& sink) { return of_header(sink.location); });
  });
}

// A fix that nobody looked for must not look like one that does not exist.
void tell_limits(const std::vector<flow::UnfinishedSearch>& searches, const std::vector<Finding>& findings) {
  for (const flow::UnfinishedSearch& each : searches) {
    const SourceLocation& at = each.location;
    const bool reported = std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
      return is_open(finding) && finding.rule == each.rule && finding.location.file == at.file &&
             finding.location.line == at.line && finding.location.column == at.column;
    });
    if (!reported) continue;
    std::cerr << fmt::format("dtype-lint: note: {}:{}:{}: no fix is offered for {}, and one may exist: {}\n",
                             at.file, at.line, at.column, each.rule, each.limit);
  }
}

}  // namespace

Report report_on(std::vector<FileSummary> summaries, const std::string& root, const Options& options,
                 const ReportScope& scope) {
  Report report;
  report.tool = "dtype-lint";
  report.tool_version = kVersion;
  report.root = root;
  const SuppressionScope looked_at = scope_of(options, summaries);
  report.files_analysed = files_read(summaries);
  SourceFiles disk(root);
  const auto text = [&](const std::string& file) -> const std::string* {
    const auto given = scope.texts.find(file);
    return given == scope.texts.end() ? disk.text(file) : &given->second;
  };
  ProgramResult result = analyse_program(std::move(summaries), options, text);
  report.findings = std::move(result.findings);
  report.not_analysed = std::move(result.not_analysed);
  report.not_analysed.insert(report.not_analysed.end(), scope.missing.begin(), scope.missing.end());
  std::erase_if(report.findings, [&](Finding& finding) { return !options.rules.apply(finding); });
  keep_those_of(scope.headers, report.findings);
  merge_equal(report.findings);
  const auto read = [&](const std::string& file) {
    const std::string* found = text(file);
    return found ? std::optional(*found) : std::nullopt;
  };
  apply_suppressions(report, read, looked_at);
  std::erase_if(report.findings, [&](const Finding& each) { return options.rules.removed(each.rule); });
  use_baselines(report, options, scope.headers.empty() ? looked_at.files : scope.headers);
  if (!scope.on_trial) tell_limits(result.without_fix, report.findings);
  return report;
}

}  // namespace dtype_guard::driver
