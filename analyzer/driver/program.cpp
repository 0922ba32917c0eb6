#include "analyzer/driver/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "analyzer/driver/twins.h"
#include "analyzer/driver/version_variants.h"
#include "analyzer/flow/analysis.h"
#include "analyzer/flow/kept_groups.h"
#include "analyzer/flow/program/link.h"
#include "rules/operators/version.h"

namespace dtype_guard::driver {

namespace {

std::string file_of(const flow::Module& module, const flow::SourceRange& range) {
  return range.line > 0 && range.file < module.files.size() ? module.files[range.file] : "";
}

std::string position(const flow::Module& module, const flow::SourceRange& range) {
  const std::string file = file_of(module, range);
  return file.empty() ? "" : fmt::format("{}:{}:{}: ", file, range.line, range.column);
}

void note_problems(const FileSummary& summary, const Options& options, std::vector<NotAnalysed>& out) {
  const std::string parser = source::is_python(summary.source) ? "the parser" : "Clang";
  if (summary.outcome == FileSummary::Outcome::kCrashed) {
    out.push_back({summary.source, "", "crash", parser + " crashed on this file"});
  }
  if (summary.outcome == FileSummary::Outcome::kTimedOut) {
    out.push_back(
        {summary.source, "", "timeout",
         fmt::format("{} was not done with this file after {} seconds", parser, options.time_limit)});
  }
  if (!summary.errors.empty()) {
    const source::SourceError& first = summary.errors.front();
    const std::string at = first.line ? fmt::format("{}:{}:{}: ", first.file, first.line, first.column) : "";
    out.push_back({summary.source, "", "parse-error", at + first.message});
  }
  for (const flow::NotLowered& each : summary.module.not_lowered) {
    const std::string reason = each.function.empty() ? std::string(kOtherLanguage) : "unsupported";
    out.push_back(
        {summary.source, each.function, reason, position(summary.module, each.range) + each.reason});
  }
}

// A message about a header that several files include, or about one file compiled twice, is given once.
void drop_repeated(std::vector<NotAnalysed>& entries) {
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  std::erase_if(entries, [&](const NotAnalysed& each) {
    const bool whole_file = each.function.empty();
    return !seen.emplace(whole_file ? each.file : each.function, each.reason, each.detail).second;
  });
}

// "2.7.1+cu128" is of release 2.7; what is newer than the tables goes by the newest of theirs.
std::string release_of(const std::string& version) {
  const TorchVersion wanted = parse_torch_version(version);
  std::string_view release = kTorchReleases.front();
  for (const std::string_view each : kTorchReleases) {
    if (parse_torch_version(each) <= wanted) release = each;
  }
  return std::string(release);
}

CheckedCall checked_call(const flow::Module& module, flow::ReachedCall& call) {
  const flow::SourceRange& range = call.range;
  return {std::move(call.api),
          {file_of(module, range), range.line, range.column, range.end_line, range.end_column, call.function},
          call.reached,
          static_cast<std::uint64_t>(call.operands),
          std::move(call.unknown),
          std::move(call.given_up)};
}

UnseenCall unseen_call(const flow::Module& module, flow::UnseenCall& call) {
  using Cause = flow::UnseenCall::Cause;
  const flow::SourceRange& range = call.range;
  const char* cause = call.cause == Cause::kLibrary  ? "library"
                      : call.cause == Cause::kBudget ? "budget"
                                                     : "unknown";
  return {std::move(call.name),
          {file_of(module, range), range.line, range.column, range.end_line, range.end_column, call.function},
          cause,
          std::move(call.detail)};
}

// Versions are compared by number: 1.13 is newer than 1.9.
bool older(const std::string& a, const std::string& b) {
  const auto parts = [](const std::string& version) {
    const std::size_t dot = version.find('.');
    const auto number = [](const std::string& text) { return text.empty() ? 0 : std::atoi(text.c_str()); };
    return std::pair(number(version.substr(0, dot)),
                     number(dot == std::string::npos ? "" : version.substr(dot + 1)));
  };
  return parts(a) < parts(b);
}

}  // namespace

namespace {
// Evaluating C++ may take about as long as a compiler takes to read it. That goes by the headers, of which
// libtorch's alone take some seconds, and by what is in the user's functions. Python is read fast, and little
// of it is known before it is evaluated.
struct AllowedWork {
  std::size_t least = 0, for_instruction = 0;
};
constexpr AllowedWork kForCxx = {800'000, 50};
constexpr AllowedWork kForLibtorch = {3'000'000, 250};
constexpr std::size_t kWorkForPython = 150'000'000;

std::size_t work_for(const flow::Module& module, bool has_libtorch) {
  const AllowedWork allowed = has_libtorch ? kForLibtorch : kForCxx;
  std::size_t work = allowed.least;
  bool has_python = false;
  for (const flow::Function& function : module.functions) {
    if (source::is_python(file_of(module, function.range))) {
      has_python = true;
      continue;
    }
    for (const flow::Block& block : function.blocks)
      work += allowed.for_instruction * block.instructions.size();
  }
  return has_python ? work + kWorkForPython : work;
}

bool includes_libtorch(const FileSummary& summary) {
  return !source::is_python(summary.source) && !summary.torch_version.empty();
}
}  // namespace

flow::AnalysisOptions analysis_options(const std::vector<FileSummary>& summaries, const Options& options) {
  flow::AnalysisOptions analysis;
  analysis.settings = options.settings;
  analysis.settings_named_by_user = options.settings_named;
  analysis.device = options.device;
  analysis.device_named_by_user = options.device_named;
  analysis.strict = options.strict;
  analysis.contracts = &options.contracts;
  std::string torch_version;
  for (const FileSummary& each : summaries) {
    if (older(torch_version, each.torch_version)) torch_version = each.torch_version;
  }
  if (!torch_version.empty()) analysis.torch_versions = {torch_version};
  const auto torch = options.versions.find("torch");
  if (torch_version.empty() && torch != options.versions.end())
    analysis.torch_versions = {release_of(torch->second.front())};
  if (!options.torch_versions.empty()) analysis.torch_versions = options.torch_versions;
  return analysis;
}

std::unique_ptr<LinkedProgram> linked_program(std::vector<flow::Module> modules) {
  auto out = std::make_unique<LinkedProgram>();
  out->module = flow::link(std::move(modules));
  out->program = std::make_unique<const flow::Program>(out->module);
  return out;
}

ProgramResult analyse_linked(LinkedProgram& linked, const std::vector<FileSummary>& summaries,
                             const Options& options, const flow::SourceText& text,
                             const std::vector<std::vector<Edit>>& refused, flow::KeptGroups* kept) {
  ProgramResult result;
  flow::Module& module = linked.module;
  for (const FileSummary& each : summaries) note_problems(each, options, result.not_analysed);
  flow::AnalysisOptions analysis = analysis_options(summaries, options);
  analysis.work_budget = work_for(module, std::any_of(summaries.begin(), summaries.end(), includes_libtorch));
  analysis.templates = sources_of_twins(module.files, text);
  analysis.memo = options.memo;
  if (options.before_root) {
    analysis.before_root = [&](std::uint32_t root) {
      options.before_root(file_of(module, module.functions[root].range));
    };
  }
  if (kept) kept->begin(*linked.program);
  AnalysedVersions analysed = analyse_versions(module, *linked.program, analysis, options.versions, text,
                                               refused, options.jobs, kept);
  if (kept) kept->end();
  result.findings = std::move(analysed.findings);
  result.without_fix = std::move(analysed.without_fix);
  for (const flow::NotLowered& each : analysed.not_analysed) {
    result.not_analysed.push_back(
        {file_of(module, each.range), each.function, "budget", position(module, each.range) + each.reason});
  }
  drop_repeated(result.not_analysed);
  for (flow::UnseenCall& each : analysed.unseen) result.unseen.push_back(unseen_call(module, each));
  for (flow::ReachedCall& each : analysed.calls) result.calls.push_back(checked_call(module, each));
  return result;
}

ProgramResult analyse_program(std::vector<FileSummary> summaries, const Options& options,
                              const flow::SourceText& text, const std::vector<std::vector<Edit>>& refused,
                              flow::KeptGroups* kept) {
  std::vector<flow::Module> modules;
  for (FileSummary& each : summaries) {
    // What was not lowered is told with positions in the file's own module.
    flow::Module own;
    own.files = each.module.files;
    own.not_lowered = each.module.not_lowered;
    modules.push_back(std::exchange(each.module, std::move(own)));
  }
  const std::unique_ptr<LinkedProgram> linked = linked_program(std::move(modules));
  return analyse_linked(*linked, summaries, options, text, refused, kept);
}

}  // namespace dtype_guard::driver
