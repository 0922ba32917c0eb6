#include "analyzer/driver/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "analyzer/driver/carried_headers.h"
#include "analyzer/driver/code_of_files.h"
#include "analyzer/driver/command_line.h"
#include "analyzer/driver/depfile.h"
#include "analyzer/driver/fixing.h"
#include "analyzer/driver/kept_answer.h"
#include "analyzer/driver/limited_lowering.h"
#include "analyzer/driver/program.h"
#include "analyzer/driver/reporting.h"
#include "analyzer/driver/usage_error.h"
#include "analyzer/flow/ir/text.h"
#include "analyzer/flow/kept_groups.h"
#include "rules/files/atomic_file.h"
#include "rules/files/input_file.h"
#include "rules/report/report.h"

namespace dtype_guard::driver {

namespace {

bool any_failed(const std::vector<FileSummary>& summaries) {
  return std::any_of(summaries.begin(), summaries.end(),
                     [](const FileSummary& each) { return each.failed(); });
}

bool wants_color(const Options& options) {
  if (options.color != Color::kAuto) return options.color == Color::kAlways;
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) && !(no_color && *no_color);
}

void write_reports(const Report& report, const Options& options) {
  for (const ReportTarget& target : options.reports) {
    std::ostringstream text;
    target.format->write(text, report,
                         {target.file.empty() && wants_color(options), options.quiet, options.statistics});
    if (target.file.empty()) {
      std::cout << text.str() << std::flush;
      if (!std::cout) throw UsageError("--format: writing to standard output failed; is the disk full?");
      continue;
    }
    const std::string problem = write_atomically(target.file, text.str());
    if (!problem.empty())
      throw UsageError(fmt::format("--format: writing '{}' failed: {}", target.file, problem));
  }
}

bool fails(const Report& report, FailOn level) {
  const Summary summary = summarise(report);
  if (level == FailOn::kNever) return false;
  return summary.errors > 0 || (level == FailOn::kWarning && summary.warnings > 0);
}

void tell(const NotAnalysed& entry) {
  std::cerr << fmt::format("dtype-lint: {}: {}: {}\n", entry.file, entry.reason, entry.detail);
}

int dump_flow(const std::vector<FileSummary>& summaries, const Options& options) {
  for (const FileSummary& each : summaries) std::cout << flow::print(each.module);
  std::vector<FileSummary> problems = summaries;
  for (FileSummary& each : problems) each.module.functions.clear();
  for (const NotAnalysed& each : analyse_program(std::move(problems), options).not_analysed) {
    tell(each);
  }
  return any_failed(summaries) ? 3 : 0;
}

// For a build system: what is wrong with the file is told here as well, since the link may be far away.
int emit(FileSummary summary, const Options& options) {
  summary.hashes = hashes_now(summary);
  if (!options.depfile.empty()) {
    const std::string failed = write_atomically(options.depfile, depfile_text(summary, options));
    if (!failed.empty()) {
      throw UsageError(fmt::format("--depfile: writing '{}' failed: {}", options.depfile, failed));
    }
  }
  const std::string problem =
      write_atomically(options.emit_summary, summary_text(summary, options.rules_hash));
  if (!problem.empty()) {
    throw UsageError(fmt::format("--emit-summary: writing '{}' failed: {}", options.emit_summary, problem));
  }
  FileSummary only_problems = summary;
  only_problems.module.functions.clear();
  for (const NotAnalysed& each : analyse_program({only_problems}, options).not_analysed) {
    if (!options.quiet || is_failure(each)) tell(each);
  }
  return summary.failed() ? 3 : 0;
}

// Writes the report; the exit status that it means.
int finish(Report report, bool failed, const Options& options,
           const std::map<std::string, std::string>& texts = {}) {
  SourceFiles disk(report.root);
  CodeOfFiles(disk, texts).count_in_files(report);
  write_reports(report, options);
  // Formats that other programs read have no place for it, or one that a log does not show.
  const bool told = std::any_of(options.reports.begin(), options.reports.end(), [](const ReportTarget& each) {
    return each.file.empty() && (each.format->name == "text" || each.format->name == "github");
  });
  for (const NotAnalysed& each : report.not_analysed) {
    if (!told && is_failure(each)) tell(each);
  }
  if (failed) return 3;
  return fails(report, options.fail_on) ? 1 : 0;
}

// With --fix, of what is left.
int report_on_sources(std::vector<FileSummary> summaries, const Options& options, const SourceList& sources,
                      Cache& cache, KeptAnswers& answers, const std::optional<KeptAnswer>& known,
                      flow::KeptGroups& groups) {
  const std::string& root = sources.user_code.root();
  ReportScope scope;
  scope.headers = sources.headers;
  scope.carriers = sources.carriers;
  scope.missing = not_looked_at(sources);
  for (const auto& [path, text] : sources.texts) scope.texts[sources.user_code.report_name(path)] = text;
  const bool fixing = options.fix || !options.export_fixes.empty();
  if (!fixing) {
    const bool failed = any_failed(summaries) || !sources.missing.empty();
    if (known) {
      scope.known = &known->answer;
    } else {
      if (answers.are_kept()) scope.groups = &groups;
      scope.keep = [&, files = without_code(summaries)](const ProgramAnswer& answer) {
        answers.keep({files, answer});
        if (scope.groups) answers.keep_groups(groups);
      };
    }
    return finish(report_on(std::move(summaries), root, options, scope), failed, options, scope.texts);
  }
  FixedSources fixed = fix_sources(std::move(summaries), options, sources, cache);
  return finish(std::move(fixed.report), any_failed(fixed.summaries) || !sources.missing.empty(), options);
}

}  // namespace

int run(const Options& options, SourceList sources) {
  Cache cache(options.cache, options.rules_hash);
  KeptAnswers answers(options, sources, cache);
  const std::optional<KeptAnswer> known = answers.find();
  flow::KeptGroups groups;
  if (!known && answers.are_kept()) answers.find_groups(groups);
  std::vector<FileSummary> summaries = known ? known->summaries : read_with_headers(options, sources, cache);
  cache.prune();
  for (const std::string& each : sources.notes) std::cerr << "dtype-lint: note: " << each << '\n';
  for (const std::string& each : cache.notes()) std::cerr << "dtype-lint: note: " << each << '\n';
  int status = 0;
  if (options.dump_flow) {
    status = dump_flow(summaries, options);
  } else if (!options.emit_summary.empty()) {
    if (summaries.size() > 1) {
      std::cerr << fmt::format("dtype-lint: note: {} is compiled in {} ways; the summary is of the first\n",
                               summaries.front().source, summaries.size());
    }
    status = emit(std::move(summaries.front()), options);
  } else {
    status = report_on_sources(std::move(summaries), options, sources, cache, answers, known, groups);
  }
  leave_process(status);
  return status;
}

namespace {

// Its findings are where they were, and the lines shown are those of now.
void note_if_stale(const FileSummary& summary, const std::string& file) {
  const std::map<std::string, std::string> now = hashes_now(summary);
  for (const auto& [name, hash] : summary.hashes) {
    const auto found = now.find(name);
    if (found == now.end() || found->second == hash) continue;
    std::cerr << fmt::format(
        "dtype-lint: note: '{}' was written before '{}' was changed; write it again with "
        "--emit-summary\n",
        file, name);
    return;
  }
}

}  // namespace

int run_linked(const Options& given) {
  Options options = given;
  std::vector<FileSummary> summaries;
  for (const std::string& file : options.link) {
    const InputFile input = read_input(file);
    if (!input.found.empty()) {
      throw UsageError(
          fmt::format("--link: '{}' is {}; name files that --emit-summary wrote", file, input.found));
    }
    try {
      summaries.push_back(parse_summary(input.text, file, options.rules_hash));
      note_if_stale(summaries.back(), file);
    } catch (const SummaryError& error) {
      throw UsageError(fmt::format("--link: {}", error.what()));
    }
  }
  // Any order of the files gives the same report.
  std::stable_sort(summaries.begin(), summaries.end(),
                   [](const FileSummary& a, const FileSummary& b) { return a.source < b.source; });
  std::string root = options.root.empty() ? summaries.front().root : options.root;
  for (const FileSummary& each : summaries) {
    if (!options.root.empty() || each.root == root) continue;
    throw UsageError(
        fmt::format("--link: the summaries are of the project folders '{}' and '{}'; name the "
                    "folder that their file names are relative to with --root",
                    root, each.root));
  }
  if (!options.root.empty()) root = std::filesystem::absolute(root).lexically_normal().string();
  while (root.size() > 1 && root.ends_with('/')) root.pop_back();
  settle_project(options, root);
  if (options.dump_flow) return dump_flow(summaries, options);
  const bool failed = any_failed(summaries);
  return finish(report_on(std::move(summaries), root, options), failed, options);
}

}  // namespace dtype_guard::driver
