// dtype-san: the command line.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "dtype_san_version.h"
#include "rules/text/nearest_name.h"
#include "sanitizer/launcher/commands.h"
#include "sanitizer/launcher/library.h"
#include "sanitizer/launcher/output.h"
#include "sanitizer/symbolize/journals.h"

namespace {

using namespace dtype_guard::san;

constexpr const char* kExamples = R"(Examples:
  dtype-san run -- ./serve --port 80           watch a program, report on stderr when it ends
  dtype-san run --error-exitcode 9 -- ./test   for CI: status 9 when there are findings
  dtype-san run --format json=run.json ./test  the same report for other tools
  dtype-san run --journal runs -- ./job        keep the journals ...
  dtype-san report runs                        ... and print them later
  dtype-san explain attention-mixed-dtypes     what a finding means and how to cure it
  dtype-san explain fmha_cutlassF_bf16_aligned_64x64_rf_sm80
                                               which dtypes a CUDA kernel's name proves

Without the launcher: LD_PRELOAD=.../libdtype_san.so DTYPE_SAN_OPTIONS=journal=runs ./job
(DTYPE_SAN_OPTIONS=help=1 prints its options; run and report take the same through --options).

Exit status: run ends as the command did (126, 127: it could not be started); report: 0 none, 1 findings,
2 usage, 3 a journal could not be read completely.)";

const std::string kFormatHelp = dtype_guard::format_names() + "; =FILE to write it there (repeatable)";
constexpr const char* kRootHelp = "show files below this directory relative to it (default: the current one)";
constexpr const char* kOptionsHelp = "more DTYPE_SAN_OPTIONS, key=value:key=value";

void add_run(CLI::App& app, RunArguments& arguments) {
  CLI::App* run = app.add_subcommand("run", "watch a command and report when it ends");
  // Shown in the help only: split_command has taken the command away before parsing.
  run->add_option("COMMAND", arguments.command,
                  "the program and its arguments; -- before it ends our options");
  run->add_option("--format", arguments.formats, kFormatHelp)
      ->type_name("FORMAT[=FILE]")
      ->allow_extra_args(false);
  run->add_option("--error-exitcode", arguments.error_exitcode, "exit status when there are findings")
      ->check(CLI::Range(1, 255))
      ->type_name("N");
  run->add_flag("--halt-on-error", arguments.halt_on_error, "stop the command at its first finding");
  run->add_option("--journal", arguments.journal, "keep the journals in this directory")->type_name("DIR");
  run->add_option("--options", arguments.options, kOptionsHelp)
      ->type_name("OPTIONS")
      ->allow_extra_args(false);
  run->add_option("--root", arguments.root, kRootHelp)->type_name("DIR");
  run->add_option("--library", arguments.library, "preload this libdtype_san.so")->type_name("FILE");
}

void add_report(CLI::App& app, ReportArguments& arguments) {
  CLI::App* report = app.add_subcommand("report", "print the findings in journals");
  report->add_option("JOURNAL", arguments.journals, "journals, or directories of them")->required();
  report->add_option("--format", arguments.formats, kFormatHelp)
      ->type_name("FORMAT[=FILE]")
      ->allow_extra_args(false);
  report->add_option("--root", arguments.root, kRootHelp)->type_name("DIR");
  report->add_option("--baseline", arguments.baseline, "known findings: only new ones count")
      ->type_name("FILE");
  report
      ->add_option("--write-baseline", arguments.write_baseline, "write what was found, for --baseline later")
      ->type_name("FILE");
  report->add_option("--options", arguments.options, kOptionsHelp)
      ->type_name("OPTIONS")
      ->allow_extra_args(false);
}

// Cuts COMMAND and its arguments off, so that nothing in them is taken for an option or a subcommand of ours.
std::vector<std::string> split_command(const CLI::App& run, std::vector<std::string>& words) {
  std::size_t at = 1;
  while (at < words.size() && words[at].size() > 1 && words[at][0] == '-' && words[at] != "--") {
    bool has_value = words[at].find('=') != std::string::npos;
    const CLI::Option* option = run.get_option_no_throw(words[at].substr(0, words[at].find('=')));
    at += option != nullptr && !has_value && option->get_expected_max() > 0 ? 2 : 1;
  }
  std::size_t end = std::min(at, words.size());
  if (at < words.size() && words[at] == "--") ++at;
  std::vector<std::string> command(words.begin() + static_cast<std::ptrdiff_t>(std::min(at, words.size())),
                                   words.end());
  words.resize(end);
  return command;
}

const std::vector<std::string> kCommands = {"run", "report", "explain"};

bool is_command(const std::string& word) {
  return std::find(kCommands.begin(), kCommands.end(), word) != kCommands.end();
}

std::string unknown_command(const std::string& word) {
  return fmt::format(
      "unknown command '{}'{} (expected run, report or explain; 'dtype-san run {}' watches it)", word,
      dtype_guard::did_you_mean(word, kCommands), word);
}

int usage_error(const std::string& message) {
  fmt::print(stderr, "dtype-san: {}\n", message);
  return 2;
}

int dispatch(int argc, char** argv) {
  CLI::App app("Watches a running program and reports dtype mismatches at attention and rotary kernels.",
               "dtype-san");
  app.set_version_flag("--version", "dtype-san " DTYPE_SAN_VERSION);
  app.footer(kExamples);
  app.require_subcommand(1);
  RunArguments run;
  ReportArguments report;
  std::string rule;
  add_run(app, run);
  add_report(app, report);
  app.add_subcommand("explain", "explain a rule, or what a CUDA kernel's name says about dtypes")
      ->add_option("RULE", rule, "the rule's id, or a kernel's name, mangled or not")
      ->required();

  std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && !words[0].starts_with('-') && !is_command(words[0]))
    return usage_error(unknown_command(words[0]));
  if (!words.empty() && words[0] == "run") run.command = split_command(*app.get_subcommand("run"), words);
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return usage_error(fmt::format("{}; see dtype-san --help", error.what()));
  }
  if (app.got_subcommand("report")) return report_command(report);
  if (app.got_subcommand("explain")) return explain_command(rule);
  if (run.command.empty()) return usage_error("run: no command was given; see dtype-san run --help");
  return run_command(run);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return dispatch(argc, argv);
  } catch (const UsageError& error) {
    return usage_error(error.message);
  } catch (const LibraryError& error) {
    return usage_error(error.message);
  } catch (const MissingJournal& error) {
    return usage_error(error.message);
  } catch (const std::exception& error) {
    return usage_error(error.what());
  }
}
