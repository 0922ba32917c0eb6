#include "analyzer/driver/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <mutex>
#include <sstream>
#include <thread>

#include "analyzer/driver/baselines.h"
#include "analyzer/driver/merge.h"
#include "analyzer/driver/version.h"
#include "analyzer/flow/text.h"
#include "rules/catalog/catalog.h"
#include "rules/report/report.h"
#include "rules/report/suppressions.h"

namespace dtype_guard::driver {

namespace {

struct FileResult {
  std::vector<Finding> findings;
  std::vector<NotAnalysed> not_analysed;
  std::string flow;
  bool failed = false;  // exit 3
};

// "[3/40] src/attention.cpp", rewritten in place, on a terminal only.
class Progress {
 public:
  Progress(bool wanted, std::size_t total)
      : on_(wanted && total > 1 && isatty(STDERR_FILENO)), total_(total) {}
  ~Progress() {
    if (on_) std::cerr << "\r\x1b[K" << std::flush;
  }
  void starts(const std::string& file) {
    if (!on_) return;
    const std::lock_guard lock(mutex_);
    std::cerr << fmt::format("\r\x1b[K[{}/{}] {}", ++started_, total_, file) << std::flush;
  }

 private:
  bool on_;
  std::size_t total_;
  std::size_t started_ = 0;
  std::mutex mutex_;
};

std::string position(const flow::Module& module, const flow::SourceRange& range) {
  if (range.line == 0 || range.file >= module.files.size()) return {};
  return fmt::format("{}:{}:{}: ", module.files[range.file], range.line, range.column);
}

void note_errors(const clang_front_end::LoweredSource& lowered, const std::string& file, FileResult& result) {
  if (lowered.crashed) {
    result.not_analysed.push_back({file, "", "crash", "Clang crashed on this file"});
    result.failed = true;
  }
  if (!lowered.errors.empty()) {
    const clang_front_end::SourceError& first = lowered.errors.front();
    const std::string at = first.line ? fmt::format("{}:{}:{}: ", first.file, first.line, first.column) : "";
    result.not_analysed.push_back({file, "", "parse-error", at + first.message});
    result.failed = true;
  }
  for (const flow::NotLowered& each : lowered.module.not_lowered) {
    result.not_analysed.push_back(
        {file, each.function, "unsupported", position(lowered.module, each.range) + each.reason});
  }
}

FileResult look_at(const clang_front_end::CompileCommand& command, const Options& options,
                   const SourceList& sources) {
  FileResult result;
  const std::string file = sources.user_code.report_name(command.file);
  clang_front_end::LoweringOptions lowering;
  lowering.user_code = sources.user_code;
  lowering.contracts = &options.contracts;
  lowering.extra_arguments = options.extra_arguments;
  const clang_front_end::LoweredSource lowered = clang_front_end::lower(command, lowering);
  note_errors(lowered, file, result);
  if (options.dump_flow) {
    result.flow = flow::print(lowered.module);
    return result;
  }
  flow::AnalysisOptions analysis;
  analysis.settings = options.settings;
  analysis.settings_named_by_user = options.settings_named;
  analysis.device = options.device;
  analysis.strict = options.strict;
  analysis.contracts = &options.contracts;
  if (!lowered.torch_version.empty()) analysis.torch_versions = {lowered.torch_version};
  if (!options.torch_versions.empty()) analysis.torch_versions = options.torch_versions;
  flow::AnalysisResult analysed = flow::analyse(lowered.module, analysis);
  result.findings = std::move(analysed.findings);
  for (const flow::NotLowered& each : analysed.not_analysed) {
    result.not_analysed.push_back(
        {file, each.function, "budget", position(lowered.module, each.range) + each.reason});
  }
  return result;
}

std::vector<FileResult> look_at_all(const Options& options, const SourceList& sources) {
  std::vector<FileResult> results(sources.commands.size());
  std::atomic<std::size_t> next = 0;
  Progress progress(!options.quiet, sources.commands.size());
  const auto work = [&] {
    for (std::size_t i = next++; i < sources.commands.size(); i = next++) {
      progress.starts(sources.user_code.report_name(sources.commands[i].file));
      results[i] = look_at(sources.commands[i], options, sources);
    }
  };
  const std::size_t count = std::min<std::size_t>(options.jobs, sources.commands.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < count; ++i) threads.emplace_back(work);
  work();
  for (std::thread& each : threads) each.join();
  return results;
}

bool wants_color(const Options& options) {
  if (options.color != Color::kAuto) return options.color == Color::kAlways;
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) && !(no_color && *no_color);
}

void write_reports(const Report& report, const Options& options) {
  for (const ReportTarget& target : options.reports) {
    std::ostringstream text;
    target.format->write(text, report, {target.file.empty() && wants_color(options), options.quiet});
    if (target.file.empty()) {
      std::cout << text.str() << std::flush;
      if (!std::cout) throw UsageError("--format: writing to standard output failed; is the disk full?");
      continue;
    }
    std::ofstream out(target.file, std::ios::trunc);
    out << text.str();
    if (!out.flush())
      throw UsageError(fmt::format("--format: writing '{}' failed; is the disk full?", target.file));
  }
}

// Comments for rules that were not asked for are not called stale.
SuppressionScope scope_of(const Options& options, const SourceList& sources) {
  SuppressionScope scope;
  for (const clang_front_end::CompileCommand& each : sources.commands) {
    scope.files.push_back(sources.user_code.report_name(each.file));
  }
  for (const Rule& rule : catalog()) {
    if (options.rules.enabled(rule.id)) scope.rules.push_back(rule.id);
  }
  return scope;
}

bool fails(const Report& report, FailOn level) {
  const Summary summary = summarise(report);
  if (level == FailOn::kNever) return false;
  return summary.errors > 0 || (level == FailOn::kWarning && summary.warnings > 0);
}

}  // namespace

int run(const Options& options, const SourceList& sources) {
  std::vector<FileResult> results = look_at_all(options, sources);
  const bool failed =
      std::any_of(results.begin(), results.end(), [](const FileResult& each) { return each.failed; });
  Report report;
  report.tool = "dtype-lint";
  report.tool_version = kVersion;
  report.root = sources.user_code.root();
  report.files_analysed = static_cast<std::uint64_t>(
      std::count_if(results.begin(), results.end(), [](const FileResult& each) { return !each.failed; }));
  for (FileResult& each : results) {
    std::move(each.not_analysed.begin(), each.not_analysed.end(), std::back_inserter(report.not_analysed));
    std::move(each.findings.begin(), each.findings.end(), std::back_inserter(report.findings));
  }
  if (options.dump_flow) {
    for (const FileResult& each : results) std::cout << each.flow;
    for (const NotAnalysed& each : report.not_analysed) {
      std::cerr << fmt::format("dtype-lint: {}: {}: {}\n", each.file, each.reason, each.detail);
    }
    return failed ? 3 : 0;
  }
  std::erase_if(report.findings, [&](Finding& finding) { return !options.rules.apply(finding); });
  merge_equal(report.findings);
  const SuppressionScope scope = scope_of(options, sources);
  apply_suppressions(report, source_reader(report), scope);
  std::erase_if(report.findings, [&](const Finding& each) { return options.rules.removed(each.rule); });
  use_baselines(report, options, scope.files);
  write_reports(report, options);
  if (failed) return 3;
  return fails(report, options.fail_on) ? 1 : 0;
}

}  // namespace dtype_guard::driver
