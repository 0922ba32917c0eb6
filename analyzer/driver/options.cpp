#include "analyzer/driver/options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <thread>

#include "analyzer/clang/front_end.h"
#include "analyzer/clang/response_file.h"
#include "analyzer/driver/baselines.h"
#include "analyzer/driver/cache.h"
#include "analyzer/driver/config.h"
#include "analyzer/driver/option_values.h"
#include "analyzer/driver/version.h"
#include "rules/catalog/catalog.h"
#include "rules/contracts/own_contracts.h"
#include "rules/operators/explain.h"
#include "rules/operators/version.h"
#include "rules/text/nearest_name.h"

namespace dtype_guard::driver {

namespace {

constexpr const char* kExamples = R"(Examples:
  dtype-lint -p build                          every source of the project
  dtype-lint -p build src/attention.cpp        one of them
  dtype-lint attention.cpp -- -std=c++17 -I/opt/libtorch/include
  dtype-lint -p build --precision bf16-fp32-buffers --format json=lint.json --format text
  dtype-lint --explain attention-mixed-dtypes

Exit status: 0 clean, 1 findings, 2 usage or configuration, 3 a file has errors, no command,
or took Clang down or too long; functions over a budget are listed as not analysed and do not count.)";

const std::vector<std::string> kDevices = {"cuda", "cpu", "mps", "xpu"};

// What CLI11 fills; strings until they are checked.
struct Written {
  std::vector<std::string> precision, rules, formats, contracts, exclude;
  std::string torch, explain, fail_on = "warning", color = "auto", cache, config, stdin_file;
  bool list_rules = false, version = false, no_cache = false;
  std::optional<int> jobs;
};

// "FILE ..." is for an option that takes every word behind it; one that may be repeated takes one each time.
class HelpFormat : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string words = CLI::Formatter::make_option_opts(option);
    const std::size_t dots = words.rfind(" ...");
    const bool one = !option->get_positional() && !option->get_allow_extra_args();
    return one && dots != std::string::npos ? words.erase(dots, 4) : words;
  }
};

void declare(CLI::App& app, Options& options, Written& written) {
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::Throw);
  const auto list = [](CLI::Option* option) {
    return option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->delimiter(',')
        ->allow_extra_args(false);
  };
  app.add_option(
         "SOURCE", options.sources,
         "Files to check; a folder: its sources, and its headers through files that include them; none: "
         "every user source of the compile database")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("-p", options.database, "Folder that holds compile_commands.json")->type_name("DIR");
  list(app.add_option("--precision", written.precision,
                      "Precision settings to check under (see --help end); may be repeated"))
      ->type_name("LIST");
  app.add_option(
         "--torch", written.torch,
         "PyTorch version whose rules hold, or A..B: also report what differs between these; default: "
         "that of the headers")
      ->type_name("VERSION[..VERSION]");
  app.add_option("--device", options.device, "cuda (default), cpu, mps or xpu")->type_name("DEVICE");
  list(app.add_option("--contracts", written.contracts,
                      "More contracts of attention calls, as JSON; may be repeated"))
      ->type_name("FILE");
  app.add_option("--config", written.config, "Configuration to use instead of the nearest .dtype-lint.json")
      ->type_name("FILE");
  list(app.add_option("--exclude", written.exclude, "Leave these files and folders out; may be repeated"))
      ->type_name("GLOB");
  app.add_option("--stdin-filename", written.stdin_file,
                 "The source comes from standard input and is this file")
      ->type_name("FILE");
  app.add_option("--root", options.root, "Project folder: code below it is yours")->type_name("DIR");
  list(
      app.add_option("--rules", written.rules, "Rules to report, or -RULE to leave one out; may be repeated"))
      ->type_name("SPEC");
  app.add_flag("--strict", options.strict, "Report possible findings too");
  app.add_option("--fail-on", written.fail_on,
                 "Lowest level that makes the exit status 1: error, warning, never")
      ->type_name("LEVEL");
  list(app.add_option("--format", written.formats,
                      format_names() + ", into FILE or to standard output; may be repeated"))
      ->type_name("FORMAT[=FILE]");
  app.add_flag("--fix", options.fix, "Apply the fixes that are offered, then report what is left");
  app.add_option("--export-fixes", options.export_fixes,
                 "Write findings and fixes to FILE, as clang-apply-replacements reads them")
      ->type_name("FILE");
  app.add_option("--baseline", options.baseline, "Known findings: only new ones count, fixed ones are named")
      ->type_name("FILE");
  app.add_option("--write-baseline", options.write_baseline, "Write what was found, for --baseline later")
      ->type_name("FILE");
  app.add_option("--jobs,-j", written.jobs, "Files analysed at a time; default: one per processor")
      ->type_name("N");
  app.add_option("--cache", written.cache,
                 "Folder of the cache; default: dtype-lint in the user's cache folder")
      ->type_name("DIR");
  app.add_flag("--no-cache", written.no_cache, "Read every file anew and keep nothing");
  app.add_option("--emit-summary", options.emit_summary,
                 "Write what SOURCE says to FILE, for --link, instead of a report")
      ->type_name("FILE");
  app.add_option("--depfile", options.depfile,
                 "With --emit-summary: also write what the summary rests on, as make and ninja read it")
      ->type_name("FILE");
  app.add_option("--link", options.link, "Report on these summaries as one program, instead of on sources")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("FILE");
  app.add_option("--extra-arg", options.extra_arguments, "One more compiler flag; may be repeated")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false)
      ->type_name("ARG");
  app.add_option("--explain", written.explain,
                 "Print what a rule says, or what an operator of PyTorch does to "
                 "dtypes, with --torch A..B what changed between these releases")
      ->type_name("RULE|OPERATOR");
  app.add_flag("--list-rules", written.list_rules, "Print all rules");
  app.add_flag("--dump-flow", options.dump_flow, "Print the dtype-flow IR instead of findings");
  app.add_option("--color", written.color, "auto (default), always or never")->type_name("WHEN");
  app.add_flag("--quiet,-q", options.quiet,
               "Only findings, and files that could not be read: no summary, no progress");
  app.add_flag("--version", written.version, "Print versions");
}

// CLI11 takes the word after an option that may repeat as another value of it; "-rule" must not look like an
// option.
std::vector<std::string> without_flags(int argc, char** argv, Options& options) {
  std::vector<std::string> words = clang_front_end::with_response_files(
      std::vector<std::string>(argv + 1, argv + argc), std::filesystem::current_path().string());
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

std::string nearest_operator(const std::string& name) {
  std::vector<std::string> known;
  for (const Operator& each : all_operators()) known.push_back(each.name);
  return nearest_name(name, known);
}

int explain(const std::string& id, const std::string& torch) {
  const Rule* rule = find_rule(id);
  const Operator* op = rule ? nullptr : find_operator(id);
  if (op) {
    const std::vector<std::string> releases =
        torch.empty() ? std::vector<std::string>(kTorchReleases.begin(), kTorchReleases.end())
                      : read_torch_versions(torch);
    std::cout << explain_operator(*op, releases.front(), releases.back());
    return 0;
  }
  if (!rule) {
    std::string near = nearest_rule(id);
    if (near.empty()) near = nearest_operator(id);
    throw UsageError(fmt::format(
        "--explain: no rule or operator '{}'{}; --list-rules prints them all, and an operator goes by "
        "PyTorch's name, such as 'mul'",
        id, near.empty() ? "" : fmt::format(", did you mean '{}'?", near)));
  }
  std::cout << rule->text << (rule->text.ends_with('\n') ? "" : "\n");
  return 0;
}

int list_rules() {
  std::size_t width = 0;
  for (const Rule& rule : catalog()) width = std::max(width, rule.id.size());
  for (const Rule& rule : catalog()) std::cout << fmt::format("{:<{}}  {}\n", rule.id, width, rule.summary);
  return 0;
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
  if (!options.export_fixes.empty()) expect_writable("--export-fixes", options.export_fixes);
}

// What the command line leaves open is as the configuration says; what adds up stands before it.
Config apply_config(const CLI::App& app, Written& written, Options& options) {
  Config config = written.config.empty() ? nearest_config(options) : read_config(written.config);
  const auto open = [&](const char* option) { return app.get_option(option)->count() == 0; };
  if (open("--precision")) written.precision = config.precision;
  if (open("--rules")) written.rules = config.rules;
  if (open("--torch") && config.torch) written.torch = *config.torch;
  if (open("--device") && config.device) options.device = *config.device;
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
  expect_one_of("--device", options.device, kDevices);
  expect_one_of("--fail-on", written.fail_on, {"error", "warning", "never"});
  expect_one_of("--color", written.color, {"auto", "always", "never"});
  options.fail_on = written.fail_on == "error"     ? FailOn::kError
                    : written.fail_on == "warning" ? FailOn::kWarning
                                                   : FailOn::kNever;
  options.color = written.color == "auto"     ? Color::kAuto
                  : written.color == "always" ? Color::kAlways
                                              : Color::kNever;
  options.rules = RuleFilter(written.rules);
  options.contracts = builtin_contracts();
  std::vector<std::string> contract_texts;
  for (const std::string& file : written.contracts) {
    try {
      contract_texts.push_back(add_contracts(options.contracts, file));
    } catch (const std::exception& error) {
      throw UsageError(fmt::format("--contracts: {}", error.what()));
    }
  }
  options.rules_hash = rules_hash(contract_texts);
  options.contract_files = written.contracts;
  if (written.jobs.value_or(1) < 1)
    throw UsageError(fmt::format("--jobs: {} is not a number of files; give 1 or more", *written.jobs));
  options.jobs =
      static_cast<unsigned>(written.jobs.value_or(std::max(1U, std::thread::hardware_concurrency())));
  check_cache(written, options);
  check_summaries(options);
  check_fixes(options);
  check_formats(written.formats, options);
  check_baselines(options);
}

// What nobody wrote on the command line is wrong in the configuration.
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

std::string settings_footer() {
  std::string names;
  for (const flow::PrecisionSetting& each : flow::precision_settings()) {
    names += fmt::format("{}{}{}", names.empty() ? "" : ", ", each.name, each.by_default ? " *" : "");
  }
  return fmt::format("Precision settings (* by default): {}\n\n{}", names, kExamples);
}

}  // namespace

CommandLine read_command_line(int argc, char** argv) {
  CommandLine result;
  Options& options = result.options;
  Written written;
  CLI::App app("Reports where a value is silently promoted on its way into an attention or rotary call.",
               "dtype-lint");
  declare(app, options, written);
  app.formatter(std::make_shared<HelpFormat>());
  app.footer(settings_footer());
  std::vector<std::string> words = without_flags(argc, argv, options);
  std::reverse(words.begin(), words.end());
  try {
    app.parse(words);
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
    result.exit = 0;
    return result;
  } catch (const CLI::ExtrasError&) {
    const std::vector<std::string> extra = app.remaining();
    const std::string unknown = extra.empty() ? "" : extra.front().substr(0, extra.front().find('='));
    std::vector<std::string> known;
    for (const CLI::Option* each : app.get_options()) {
      for (const std::string& name : each->get_lnames()) known.push_back("--" + name);
    }
    throw UsageError(
        fmt::format("unknown option '{}'{}; --help prints them all", unknown, did_you_mean(unknown, known)));
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{}; --help prints the options", error.what()));
  }
  if (written.version) {
    std::cout << fmt::format("dtype-lint {} (LLVM {})\n", kVersion, clang_front_end::llvm_version());
    result.exit = 0;
  } else if (written.list_rules) {
    result.exit = list_rules();
  } else if (app.count("--explain") > 0) {
    result.exit = explain(written.explain, written.torch);
  } else {
    check(app, written, options);
  }
  return result;
}

}  // namespace dtype_guard::driver
