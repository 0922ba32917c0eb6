#include "analyzer/driver/command_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <thread>

#include "analyzer/clang/front_end.h"
#include "analyzer/driver/baselines.h"
#include "analyzer/driver/cache.h"
#include "analyzer/driver/config.h"
#include "analyzer/driver/declared_options.h"
#include "analyzer/driver/explaining.h"
#include "analyzer/driver/option_choices.h"
#include "analyzer/driver/option_values.h"
#include "analyzer/driver/usage_error.h"
#include "analyzer/driver/version.h"
#include "analyzer/source/response_file.h"
#include "rules/command_line/generated_text.h"
#include "rules/command_line/wrong_words.h"
#include "rules/contracts/own_contracts.h"

namespace dtype_guard::driver {

namespace {

// CLI11 takes the word after an option that may repeat as another value of it; "-rule" must not look like an
// option.
std::vector<std::string> without_flags(std::vector<std::string> words, Options& options) {
  words = source::with_response_files(std::move(words), std::filesystem::current_path().string());
  const auto separator = std::find(words.begin(), words.end(), "--");
  if (separator != words.end()) {
    options.flags.emplace(separator + 1, words.end());
    words.erase(separator, words.end());
  }
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const bool spec = words[i] == "--rules" || words[i] == "--extra-arg";
    if (spec && words[i + 1].starts_with("-")) {
      words[i] += "=" + words[i + 1];
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
  }
  return words;
}

void check_cache(const Written& written, Options& options) {
  if (written.no_cache && !written.cache.empty()) {
    throw UsageError("--cache and --no-cache contradict each other; give one of them");
  }
  if (written.no_cache) return;
  options.cache = written.cache.empty() ? Cache::default_folder() : written.cache;
  if (written.cache.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(options.cache, error);
  if (error || ::access(options.cache.c_str(), W_OK | X_OK) != 0) {
    throw UsageError(fmt::format("--cache: '{}' is no folder that can be written: {}", options.cache,
                                 error ? error.message() : std::strerror(errno)));
  }
}

void check_summaries(const Options& options) {
  if (!options.link.empty() && (!options.sources.empty() || options.flags || !options.emit_summary.empty())) {
    throw UsageError(
        "--link reports on summaries; sources, compiler flags and --emit-summary belong to "
        "another command");
  }
  if (options.emit_summary.empty()) {
    if (options.depfile.empty()) return;
    throw UsageError("--depfile: names what a summary rests on; give --emit-summary as well");
  }
  if (!options.depfile.empty()) expect_writable("--depfile", options.depfile);
  if (options.sources.size() != 1) {
    throw UsageError(fmt::format("--emit-summary: writes the summary of one source file, and {} were given",
                                 options.sources.size()));
  }
  expect_writable("--emit-summary", options.emit_summary);
}

// A fix is applied to files that are at hand, and checked by reading them again.
void check_fixes(const Options& options) {
  const std::string fixes = options.fix ? "--fix" : options.export_fixes.empty() ? "" : "--export-fixes";
  if (fixes.empty()) return;
  const char* other = !options.link.empty()           ? "--link"
                      : !options.emit_summary.empty() ? "--emit-summary"
                      : !options.stdin_file.empty()   ? "--stdin-filename"
                      : options.dump_flow             ? "--dump-flow"
                                                      : nullptr;
  if (other) {
    throw UsageError(
        fmt::format("{} changes source files and reads them again, which {} leaves no way for; name "
                    "the sources in a run of its own",
                    fixes, other));
  }
  if (options.fix && !options.write_baseline.empty()) {
    throw UsageError(
        "--write-baseline takes what is found as known, so that --fix has nothing to do; run --fix first, "
        "and --write-baseline in a run of its own");
  }
  if (options.export_fixes.empty()) return;
  if (!clang_front_end::is_built_in()) {
    throw UsageError(fmt::format(
        "--export-fixes '{}': Clang writes that file, and this dtype-lint was built without it "
        "(DTYPE_GUARD_CLANG=OFF); --fix applies the fixes, --format sarif=FILE and rdjson=FILE hold them",
        options.export_fixes));
  }
  expect_writable("--export-fixes", options.export_fixes);
}

// Lines that are not those on disk, or that the run itself changes, cannot be compared.
void check_diff_base(const Options& options) {
  if (options.diff_base.empty()) return;
  const char* other = options.fix                       ? "--fix changes them"
                      : !options.export_fixes.empty()   ? "--export-fixes writes fixes of all findings"
                      : !options.stdin_file.empty()     ? "--stdin-filename reads lines that are not on disk"
                      : !options.write_baseline.empty() ? "--write-baseline writes all findings"
                                                        : nullptr;
  if (other) {
    throw UsageError(fmt::format(
        "--diff-base compares the lines on disk with a revision, and {}; use them in runs of their own",
        other));
  }
}

// An editor is answered with diagnostics, from the files that it names.
void check_lsp(const Written& written, const Options& options) {
  if (!options.lsp) return;
  const char* other = !written.formats.empty()          ? "--format"
                      : options.fix                     ? "--fix"
                      : !options.export_fixes.empty()   ? "--export-fixes"
                      : !options.emit_summary.empty()   ? "--emit-summary"
                      : !options.link.empty()           ? "--link"
                      : !options.stdin_file.empty()     ? "--stdin-filename"
                      : !options.write_baseline.empty() ? "--write-baseline"
                      : !options.diff_base.empty()      ? "--diff-base"
                      : options.statistics              ? "--statistics"
                      : options.dump_flow               ? "--dump-flow"
                      : options.flags                   ? "--"
                                                        : nullptr;
  if (other)
    throw UsageError(fmt::format("--lsp answers an editor, and {} is of other runs; leave it out", other));
}

// What the command line leaves open is as the configuration says; what adds up stands before it.
Config apply_config(const CLI::App& app, Written& written, Options& options) {
  Config config = written.config.empty() ? nearest_config(options) : read_config(written.config);
  const auto open = [&](const char* option) { return app.get_option(option)->count() == 0; };
  if (open("--precision")) written.precision = config.precision;
  if (open("--rules")) written.rules = config.rules;
  if (open("--torch") && config.torch) written.torch = *config.torch;
  if (open("--device") && config.device) options.device = *config.device;
  options.device_named = !open("--device") || config.device;
  if (open("--fail-on") && config.fail_on) written.fail_on = *config.fail_on;
  if (open("--strict") && config.strict) options.strict = *config.strict;
  if (config.time_limit) options.time_limit = *config.time_limit;
  const auto prepend = [](std::vector<std::string>& to, const std::vector<std::string>& first) {
    to.insert(to.begin(), first.begin(), first.end());
  };
  prepend(written.contracts, config.contracts);
  prepend(options.extra_arguments, config.extra_args);
  options.external = config.external;
  options.config_folder = config.folder;
  options.config_root = config.root;
  options.exclude = config.exclude;
  const std::string here = std::filesystem::current_path().string();
  for (const std::string& each : written.exclude) {
    for (std::string& one : path_patterns(each, here)) options.exclude.push_back(std::move(one));
  }
  return config;
}

void check_values(const CLI::App& app, Written& written, Options& options, const Config& config) {
  check_precision(written.precision, config.settings, options);
  if (app.count("--torch") > 0 || config.torch) options.torch_versions = read_torch_versions(written.torch);
  expect_one_of("--device", options.device, option_choices().at("--device"));
  expect_one_of("--fail-on", written.fail_on, option_choices().at("--fail-on"));
  expect_one_of("--color", written.color, option_choices().at("--color"));
  options.fail_on = written.fail_on == "error"     ? FailOn::kError
                    : written.fail_on == "warning" ? FailOn::kWarning
                                                   : FailOn::kNever;
  options.color = written.color == "auto"     ? Color::kAuto
                  : written.color == "always" ? Color::kAlways
                                              : Color::kNever;
  options.rules = RuleFilter(written.rules);
  for (const FileRules& each : config.per_file_rules)
    options.file_rules.push_back({each.patterns, RuleFilter(each.rules)});
  options.contracts = builtin_contracts();
  std::vector<std::string> contract_texts;
  for (const std::string& file : written.contracts) {
    try {
      contract_texts.push_back(add_contracts(options.contracts, file));
    } catch (const std::exception& error) {
      throw UsageError(fmt::format("--contracts: {}", error.what()));
    }
  }
  check_libraries(written.libraries, options);
  check_python(options);
  options.rules_hash = rules_hash(contract_texts);
  options.contract_files = written.contracts;
  options.jobs =
      static_cast<unsigned>(written.jobs.value_or(std::max(1U, std::thread::hardware_concurrency())));
  check_cache(written, options);
  check_lsp(written, options);
  check_summaries(options);
  check_fixes(options);
  check_diff_base(options);
  check_formats(written.formats, options);
  check_baselines(options);
}

// An error in a word that is not on the command line is one of the configuration.
[[noreturn]] void blame(const UsageError& error, const CLI::App& app, const Config& config) {
  const std::string words = error.what();
  const std::string option = words.starts_with("--") ? words.substr(0, words.find(':')) : "";
  const CLI::Option* found = option.empty() ? nullptr : app.get_option_no_throw(option);
  if (config.file.empty() || !found || found->count() > 0) throw error;
  const std::string inherited =
      config.root == config.folder ? "" : fmt::format(", or one that it inherits below '{}'", config.root);
  throw UsageError(
      fmt::format("{}{}: '{}'{}", config.file, inherited, option.substr(2), words.substr(option.size())));
}

void check(const CLI::App& app, Written& written, Options& options) {
  if (!written.stdin_file.empty()) {
    options.stdin_file = std::filesystem::absolute(written.stdin_file).lexically_normal().string();
  }
  const Config config = apply_config(app, written, options);
  try {
    check_values(app, written, options, config);
  } catch (const UsageError& error) {
    blame(error, app, config);
  }
}

}  // namespace

void settle_project(Options& options, const std::string& root) {
  if (!options.diff_base.empty()) options.changed = ChangedLines::since(options.diff_base, root);
  options.packages = package_folders(options.python, root);
  options.versions = library_versions(options.contracts, {options.libraries, options.packages, root});
}

CommandLine read_command_line(std::vector<std::string> given) {
  CommandLine result;
  Options& options = result.options;
  Written written;
  CLI::App app("Reports where a value is silently promoted on its way into an attention or rotary call.",
               "dtype-lint");
  declare(app, options, written);
  expect_values(app);
  std::vector<std::string> words = without_flags(std::move(given), options);
  if (const std::string wrong = wrong_word(app, words); !wrong.empty()) throw UsageError(wrong);
  std::reverse(words.begin(), words.end());
  try {
    app.parse(words);
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
    result.exit = 0;
    return result;
  } catch (const CLI::ParseError& error) {
    throw UsageError(refusal(app, error));
  }
  if (written.version) {
    std::cout << fmt::format("dtype-lint {} (LLVM {})\n", kVersion, clang_front_end::llvm_version());
    result.exit = 0;
  } else if (!written.generate.empty()) {
    expect_one_of("--generate", written.generate, option_choices().at("--generate"));
    std::cout << generated_text(written.generate, outline(app, option_choices()),
                                fmt::format("dtype-guard {}", kVersion));
    result.exit = 0;
  } else if (written.list_rules) {
    result.exit = list_rules();
  } else if (app.count("--explain") > 0 || written.list_contracts) {
    const std::string torch = written.torch;
    check(app, written, options);
    result.exit = written.list_contracts ? list_contracts(options.contracts)
                                         : explain(written.explain, torch, options.contracts);
  } else {
    check(app, written, options);
  }
  return result;
}

}  // namespace dtype_guard::driver
