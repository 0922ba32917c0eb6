// dtype-san: the command line.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>

#include "dtype_san_version.h"
#include "rules/catalog/catalog.h"
#include "rules/command_line/generated_text.h"
#include "rules/command_line/wrong_words.h"
#include "rules/report/format.h"
#include "rules/text/nearest_name.h"
#include "sanitizer/attach/process_facts.h"
#include "sanitizer/launcher/commands.h"
#include "sanitizer/launcher/library.h"
#include "sanitizer/launcher/message.h"
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
  dtype-san doctor 4711                        can process 4711 be watched, and what will be seen?
  dtype-san attach 4711                        watch it from now on; detach, on and off switch that
  dtype-san report --with lint.json runs       which findings of dtype-lint the run confirms
  dtype-san explain attention-mixed-dtypes     what a finding means and how to cure it
  dtype-san explain fmha_cutlassF_bf16_aligned_64x64_rf_sm80
                                               which dtypes a CUDA kernel's name proves

Without the launcher: LD_PRELOAD=.../libdtype_san.so DTYPE_SAN_OPTIONS=journal=runs ./job
(DTYPE_SAN_OPTIONS=help=1 prints its options; run and report take the same through --options).

Exit status: run ends as the command did (126, 127: it could not be started); report: 0 none, 1 findings,
2 usage; attach, detach, on, off: 0 done, 1 refused; doctor: 0 can be watched, 1 not; report 3: a journal could not be read completely, or --require-calls was not met. run gives 3 for the same, or
when findings could not be recorded or a report not written, where the command itself ended with 0.)";

const std::string kFormatHelp =
    dtype_guard::format_names() + "; =FILE to write it there, =- to standard output (repeatable)";
constexpr const char* kRootHelp = "show files below this directory relative to it (default: the current one)";
constexpr const char* kRequireHelp =
    "exit status 3 when no call to a watched kernel, or none to an API of option `expect`, was seen";
constexpr const char* kContractsHelp = "contracts of your own APIs, JSON as in rules/contracts (repeatable)";
constexpr const char* kOptionsHelp = "more DTYPE_SAN_OPTIONS, key=value:key=value";

void add_frames(CLI::App& command, std::string& frames) {
  command
      .add_option("--frames", frames,
                  "all: C++ frames between Python's too, which are folded into a row (default: folded)")
      ->type_name("FRAMES");
}

// Behind --options, whose words it adds to: what a command line says last holds.
void add_quiet(CLI::App& command, std::vector<std::string>& options) {
  command.add_flag_callback(
      "--quiet,-q", [&options] { options.emplace_back("print_summary=0"); },
      "only findings, and what could not be read: no summary");
}

void add_run(CLI::App& app, RunArguments& arguments) {
  CLI::App* run = app.add_subcommand("run", "watch a command and report when it ends");
  // Shown in the help only: split_command has taken the command away before parsing.
  run->add_option("COMMAND", arguments.command,
                  "the program and its arguments; -- before it ends our options");
  run->add_option("--format", arguments.formats, kFormatHelp)
      ->type_name("FORMAT[=FILE]")
      ->allow_extra_args(false);
  add_frames(*run, arguments.frames);
  run->add_option("--error-exitcode", arguments.error_exitcode,
                  "exit status when there are findings, 1 to 255")
      ->check(dtype_guard::whole_number(1, 255))
      ->type_name("N");
  run->add_flag("--halt-on-error", arguments.halt_on_error, "stop the command at its first finding");
  run->add_flag("--require-calls", arguments.require_calls, kRequireHelp);
  run->add_option("--contracts", arguments.contracts, kContractsHelp)
      ->type_name("FILE")
      ->allow_extra_args(false);
  run->add_option("--journal", arguments.journal, "keep the journals in this directory")->type_name("DIR");
  run->add_option("--options", arguments.options, kOptionsHelp)
      ->type_name("OPTIONS")
      ->allow_extra_args(false);
  run->add_option("--root", arguments.root, kRootHelp)->type_name("DIR");
  run->add_option("--library", arguments.library, "preload this libdtype_san.so")->type_name("FILE");
  add_quiet(*run, arguments.options);
}

void add_report(CLI::App& app, ReportArguments& arguments) {
  CLI::App* report = app.add_subcommand("report", "print the findings in journals");
  report->add_option("JOURNAL", arguments.journals,
                     "journals, or directories of them; default: the newest of a preloaded job");
  report->add_option("--format", arguments.formats, kFormatHelp)
      ->type_name("FORMAT[=FILE]")
      ->allow_extra_args(false);
  add_frames(*report, arguments.frames);
  report->add_option("--root", arguments.root, kRootHelp)->type_name("DIR");
  report
      ->add_option("--with", arguments.with,
                   "say of each finding in this JSON report of dtype-lint whether the run confirms it")
      ->type_name("FILE");
  report
      ->add_option(
          "--sysroot", arguments.sysroot,
          "look for programs and libraries below this folder first: a run on another machine, a container")
      ->type_name("DIR");
  report->add_flag("--require-calls", arguments.require_calls, kRequireHelp);
  report->add_option("--contracts", arguments.contracts, kContractsHelp)
      ->type_name("FILE")
      ->allow_extra_args(false);
  report->add_option("--baseline", arguments.baseline, "known findings: only new ones count")
      ->type_name("FILE");
  report
      ->add_option("--write-baseline", arguments.write_baseline, "write what was found, for --baseline later")
      ->type_name("FILE");
  report->add_option("--options", arguments.options, kOptionsHelp)
      ->type_name("OPTIONS")
      ->allow_extra_args(false);
  add_quiet(*report, arguments.options);
}

void add_attach(CLI::App& app, AttachArguments& arguments) {
  CLI::App* attach = app.add_subcommand("attach", "watch a process that is running already");
  attach->add_option("PID", arguments.pid, "its process id")->required();
  attach->add_option("--options", arguments.options, kOptionsHelp)
      ->type_name("OPTIONS")
      ->allow_extra_args(false);
  attach->add_option("--library", arguments.library, "load this libdtype_san.so")->type_name("FILE");
}

void add_switches(CLI::App& app, std::string& pid) {
  for (const auto& [name, help] :
       {std::pair("detach", "stop watching a process; the library stays in it, idle"),
        std::pair("on", "switch watching on: after off, detach or start=dormant"),
        std::pair("off", "switch watching off for a while")})
    app.add_subcommand(name, help)->add_option("PID", pid, "a process that has the library")->required();
}

void add_doctor(CLI::App& app, DoctorArguments& arguments) {
  CLI::App* doctor =
      app.add_subcommand("doctor", "say what would be seen of a process or command, and what would not");
  doctor->add_option("PID", arguments.pid, "a running process");
  // Shown in the help only, as in add_run.
  doctor->add_option("COMMAND", arguments.command, "or, behind --, a program and its arguments");
  doctor->add_option("--library", arguments.library, "this libdtype_san.so")->type_name("FILE");
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

const std::vector<std::string> kCommands = {"run", "report", "attach", "detach",
                                            "on",  "off",    "doctor", "explain"};

bool is_command(const std::string& word) {
  return std::find(kCommands.begin(), kCommands.end(), word) != kCommands.end();
}

std::string unknown_command(const std::string& word) {
  return fmt::format("unknown command '{}'{} (expected {}; 'dtype-san run {}' watches it)", word,
                     dtype_guard::did_you_mean(word, kCommands), fmt::join(kCommands, ", "), word);
}

int usage_error(const std::string& message) {
  tell("{}", message);
  return 2;
}

// What shells complete; a rule that a finding names is the word behind `explain`.
dtype_guard::Choices choices() {
  dtype_guard::Choices out = {{"--format", dtype_guard::names_of_formats()},
                              {"--frames", dtype_guard::frames_words()},
                              {"--generate", dtype_guard::generated_kinds()}};
  for (const dtype_guard::Rule& each : dtype_guard::catalog()) out["RULE"].push_back(each.id);
  return out;
}

int print_generated(const CLI::App& app, const std::string& kind) {
  const std::string text = dtype_guard::generated_text(kind, dtype_guard::outline(app, choices()),
                                                       "dtype-guard " DTYPE_SAN_VERSION);
  if (text.empty())
    return usage_error(dtype_guard::none_of("--generate", kind, dtype_guard::generated_kinds()));
  std::fputs(text.c_str(), stdout);
  return 0;
}

int dispatch(int argc, char** argv) {
  CLI::App app("Watches a running program and reports dtype mismatches at attention and rotary kernels.",
               "dtype-san");
  app.set_version_flag("--version", "dtype-san " DTYPE_SAN_VERSION);
  app.footer(kExamples);
  app.require_subcommand(1);
  std::string generate;
  app.add_option("--generate", generate, dtype_guard::kGenerateHelp)->type_name("KIND");
  RunArguments run;
  ReportArguments report;
  std::string rule;
  add_run(app, run);
  add_report(app, report);
  AttachArguments attach;
  std::string pid;
  DoctorArguments doctor;
  add_attach(app, attach);
  add_switches(app, pid);
  add_doctor(app, doctor);
  app.add_subcommand(
         "explain",
         "explain a rule, a call that has a contract, or what a CUDA kernel's name says about dtypes")
      ->add_option("RULE", rule, "the rule's id, the call's name, or a kernel's name, mangled or not")
      ->required();

  std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && !words[0].starts_with('-') && !is_command(words[0]))
    return usage_error(unknown_command(words[0]));
  if (!words.empty() && words[0].starts_with("--generate")) app.require_subcommand(0);
  if (!words.empty() && words[0] == "run") run.command = split_command(*app.get_subcommand("run"), words);
  if (const auto end = std::find(words.begin(), words.end(), "--");
      !words.empty() && words[0] == "doctor" && end != words.end()) {
    doctor.command.assign(end + 1, words.end());
    words.erase(end, words.end());
  }
  const std::size_t behind_dashes = doctor.command.size();
  dtype_guard::expect_values(app);
  if (const std::string wrong = dtype_guard::wrong_word(app, words); !wrong.empty())
    return usage_error(wrong);
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return usage_error(dtype_guard::refusal(app, error));
  }
  if (!generate.empty()) return print_generated(app, generate);
  // A report beyond the file size limit fails with a message. What `run` starts finds the signal as it was.
  if (!app.got_subcommand("run")) std::signal(SIGXFSZ, SIG_IGN);
  if (app.got_subcommand("report")) return report_command(report);
  if (app.got_subcommand("attach")) return attach_command(attach);
  if (app.got_subcommand("detach") || app.got_subcommand("off")) return switch_command(pid, false);
  if (app.got_subcommand("on")) return switch_command(pid, true);
  if (app.got_subcommand("doctor")) {
    if (doctor.command.size() != behind_dashes || (behind_dashes != 0 && !doctor.pid.empty()))
      return usage_error(fmt::format("doctor takes one process id, or a command behind --, not '{}' and '{}'",
                                     doctor.pid, fmt::join(doctor.command, " ")));
    return doctor_command(doctor);
  }
  if (app.got_subcommand("explain")) return explain_command(rule);
  if (run.command.empty())
    return usage_error(
        "run: no command was given, expected a program and its arguments; write 'dtype-san run -- COMMAND'");
  return run_command(run);
}

// Takes the places of standard streams that are closed, so that no file of ours is written to as one of them.
// What is written to such a stream fails as before, and a command that is started finds it closed.
void keep_places() {
  for (int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(descriptor, F_GETFD) < 0)
      (void)open("/dev/null", (descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

int finish(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  tell("stdout could not be written; is the disk full?");
  return status == 0 ? 2 : status;
}

}  // namespace

int main(int argc, char** argv) {
  keep_places();
  try {
    return finish(dispatch(argc, argv));
  } catch (const UsageError& error) {
    return usage_error(error.message);
  } catch (const LibraryError& error) {
    return usage_error(error.message);
  } catch (const MissingJournal& error) {
    return usage_error(error.message);
  } catch (const AttachError& error) {
    tell("{}", error.message);
    return 1;
  } catch (const std::exception& error) {
    return usage_error(error.what());
  }
}
