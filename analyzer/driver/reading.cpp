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
std::string command_key(const CompileCommand& command, const LoweringOptions& lowering, const Cache& cache) {
  std::vector<std::string> parts = {command.directory, command.file, lowering.user_code.root(), "external"};
  const std::vector<std::string>& external = lowering.user_code.external();
  parts.insert(parts.end(), external.begin(), external.end());
  parts.emplace_back("command");
  const std::vector<std::string> adjusted =
      clang_front_end::adjusted_command(command, lowering.extra_arguments);
  parts.insert(parts.end(), adjusted.begin(), adjusted.end());
  return cache.key(parts);
}

}  // namespace

SourceReader::SourceReader(const Options& options, const SourceList& sources, Cache& cache)
    : options_(options), sources_(sources), cache_(cache), python_(options, sources) {
  cached_ = !options.cache.empty();
  // What stands in no file has no time to be recognised by.
  for (const auto& [file, text] : sources.texts) cache_.leave_out(file);
  lowering_.user_code = sources.user_code;
  lowering_.contracts = &options.contracts;
  lowering_.extra_arguments = options.extra_arguments;
  lowering_.files = sources.texts;
  lowering_.record_dependencies =
      cached_ || options.lsp || !options.depfile.empty() || !sources.carried.empty();
}

FileSummary SourceReader::read(const CompileCommand& command) const {
  std::string key;
  // Clang does not say which of the given texts it read; to an editor's file it is given that alone.
  const bool is_given = options_.lsp ? sources_.texts.contains(command.file) : !sources_.texts.empty();
  const bool is_cached = cached_ && (!is_given || source::is_python(command.file));
  if (is_cached) {
    key = key_of(command);
    if (std::optional<FileSummary> known = cache_.find(key)) return std::move(*known);
  }
  FileSummary summary;
  summary.root = sources_.user_code.root();
  summary.source = sources_.user_code.report_name(command.file);
  std::optional<LoweredSource> lowered =
      lower_within(std::chrono::seconds(options_.time_limit), lowering_of(command));
  if (!lowered) {
    summary.outcome = FileSummary::Outcome::kTimedOut;
    cache_.note_unknown();
    return summary;
  }
  if (lowered->crashed) summary.outcome = FileSummary::Outcome::kCrashed;
  summary.torch_version = std::move(lowered->torch_version);
  summary.errors = std::move(lowered->errors);
  summary.module = std::move(lowered->module);
  for (const auto& each : lowered->dependencies.files) summary.files_read.push_back(each.path);
  // What was refused before a file was read rests on no file.
  const bool rests_on_files = !lowered->dependencies.files.empty() && !lowered->dependencies.refused;
  if (is_cached && !lowered->crashed && rests_on_files) {
    cache_.store(key, lowered->dependencies, summary);
  } else {
    cache_.note_unknown();
  }
  return summary;
}

std::string SourceReader::key_of(const CompileCommand& command) const {
  if (!source::is_python(command.file)) return command_key(command, lowering_, cache_);
  std::vector<std::string> parts = python_.key();
  parts.push_back(command.file);
  return cache_.key(parts);
}

// Holds copies, for it may go on after its caller has stopped waiting.
std::function<LoweredSource()> SourceReader::lowering_of(const CompileCommand& command) const {
  if (source::is_python(command.file)) {
    return [reader = python_, file = command.file] { return reader.lower(file); };
  }
  LoweringOptions lowering = lowering_;
  if (options_.lsp) {
    std::erase_if(lowering.files, [&](const auto& each) { return each.first != command.file; });
    if (!lowering.files.empty()) lowering.preambles = options_.preambles;
  }
  return [command, lowering = std::move(lowering)] { return clang_front_end::lower(command, lowering); };
}

void SourceReader::parse_start(const CompileCommand& command) const {
  LoweringOptions lowering = lowering_;
  lowering.files.clear();
  lowering.preambles = options_.preambles;
  lower_within(std::chrono::seconds(options_.time_limit),
               [command, lowering] { return clang_front_end::lower(command, lowering); });
}

std::vector<FileSummary> read_sources(const Options& options, const SourceList& sources, Cache& cache) {
  std::vector<FileSummary> summaries(sources.commands.size());
  std::atomic<std::size_t> next = 0;
  Progress progress(!options.quiet, sources.commands.size());
  const SourceReader reader(options, sources, cache);
  const auto work = [&] {
    for (std::size_t i = next++; i < sources.commands.size(); i = next++) {
      progress.starts(sources.user_code.report_name(sources.commands[i].file));
      summaries[i] = reader.read(sources.commands[i]);
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
