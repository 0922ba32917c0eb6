#include "analyzer/driver/reading.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "analyzer/driver/limited_lowering.h"
#include "analyzer/driver/progress.h"

namespace dtype_guard::driver {

using clang_front_end::LoweringOptions;
using source::CompileCommand;
using source::LoweredSource;

namespace {

// All that decides about the summary besides files, rules and the tool.
std::string key_of(const CompileCommand& command, const LoweringOptions& lowering, const Cache& cache) {
  std::vector<std::string> parts = {command.directory, command.file, lowering.user_code.root(), "external"};
  const std::vector<std::string>& external = lowering.user_code.external();
  parts.insert(parts.end(), external.begin(), external.end());
  parts.emplace_back("command");
  const std::vector<std::string> adjusted = clang_front_end::adjusted_command(command, lowering);
  parts.insert(parts.end(), adjusted.begin(), adjusted.end());
  return cache.key(parts);
}

FileSummary read_source(const CompileCommand& command, const Options& options, const SourceList& sources,
                        Cache& cache) {
  LoweringOptions lowering;
  lowering.user_code = sources.user_code;
  lowering.contracts = &options.contracts;
  lowering.extra_arguments = options.extra_arguments;
  lowering.files = sources.texts;
  // What stands in no file has no time to be recognised by.
  const bool cached = !options.cache.empty() && sources.texts.empty();
  lowering.record_dependencies = cached || !options.depfile.empty() || !sources.carried.empty();
  std::string key;
  if (cached) {
    key = key_of(command, lowering, cache);
    if (std::optional<FileSummary> known = cache.find(key)) return std::move(*known);
  }
  FileSummary summary;
  summary.root = sources.user_code.root();
  summary.source = sources.user_code.report_name(command.file);
  std::optional<LoweredSource> lowered =
      lower_within(std::chrono::seconds(options.time_limit), command, lowering);
  if (!lowered) {
    summary.outcome = FileSummary::Outcome::kTimedOut;
    return summary;
  }
  if (lowered->crashed) summary.outcome = FileSummary::Outcome::kCrashed;
  summary.torch_version = std::move(lowered->torch_version);
  summary.errors = std::move(lowered->errors);
  summary.module = std::move(lowered->module);
  for (const auto& each : lowered->dependencies.files) summary.files_read.push_back(each.path);
  // What was refused before a file was read rests on no file.
  const bool rests_on_files = !lowered->dependencies.files.empty() && !lowered->dependencies.refused;
  if (cached && !lowered->crashed && rests_on_files) cache.store(key, lowered->dependencies, summary);
  return summary;
}

}  // namespace

std::vector<FileSummary> read_sources(const Options& options, const SourceList& sources, Cache& cache) {
  std::vector<FileSummary> summaries(sources.commands.size());
  std::atomic<std::size_t> next = 0;
  Progress progress(!options.quiet, sources.commands.size());
  const auto work = [&] {
    for (std::size_t i = next++; i < sources.commands.size(); i = next++) {
      progress.starts(sources.user_code.report_name(sources.commands[i].file));
      summaries[i] = read_source(sources.commands[i], options, sources, cache);
    }
  };
  const std::size_t count = std::min<std::size_t>(options.jobs, sources.commands.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < count; ++i) threads.emplace_back(work);
  work();
  for (std::thread& each : threads) each.join();
  return summaries;
}

}  // namespace dtype_guard::driver
