#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>

#include "sanitizer/launcher/commands.h"
#include "sanitizer/launcher/executable.h"
#include "sanitizer/launcher/launch.h"
#include "sanitizer/launcher/library.h"
#include "sanitizer/launcher/message.h"
#include "sanitizer/launcher/needed_libraries.h"
#include "sanitizer/launcher/not_watched.h"
#include "sanitizer/launcher/output.h"
#include "sanitizer/launcher/own_contracts.h"
#include "sanitizer/launcher/run_tally.h"
#include "sanitizer/settings/options.h"
#include "sanitizer/symbolize/findings.h"
#include "sanitizer/symbolize/journals.h"
#include "sanitizer/symbolize/refused_sources.h"
#include "sanitizer/symbolize/unseen_calls.h"

namespace dtype_guard::san {

namespace fs = std::filesystem;

namespace {

// The value in double quotes where it would be split.
std::string option_value(const std::string& value) {
  if (value.find(':') == std::string::npos) return value;
  char quote = value.find('"') == std::string::npos ? '"' : '\'';
  return fmt::format("{}{}{}", quote, value, quote);
}

std::string text_of(const Text& text) { return std::string(text.view()); }

class Run {
 public:
  explicit Run(const RunArguments& arguments)
      : arguments_(arguments),
        options_(combine_options(arguments.options)),
        outputs_(parse_outputs(arguments.formats)),
        frames_(parse_frames(arguments.frames)),
        settings_(report_settings(options_.values, report_root(arguments.root),
                                  read_own_contracts(arguments.contracts))) {}

  int go() {
    check_expected(options_.values, settings_.own_contracts, {});
    check_compiled_contracts(text_of(options_.values.contracts));
    fs::path library = find_library(arguments_.library);
    CommandCheck check = check_command(arguments_.command.front(), library_identity(library));
    if (check.status != 0) {
      tell("{}", check.problem);
      return check.status;
    }
    asan_ = address_sanitizer_of(check.path);
    check_outputs(outputs_);
    bool needs_link = library.string().find_first_of(" \t\n:") != std::string::npos;
    PrivateFolder folder(needs_link);
    if (folder.path().empty()) throw UsageError{folder.problem()};
    choose_journal(folder.path());
    if (!settings_.own_contracts.apis.empty()) {
      contracts_ = folder.path() / "contracts";
      compile_contracts(settings_.own_contracts, contracts_);
    }
    std::vector<std::string> before = journal_files(journal_.string());
    check_log_path();
    LaunchResult result =
        launch({check.path, arguments_.command, environment(preloadable_path(library, folder.path()))});
    if (result.error != 0) {
      tell("'{}' cannot be started: {}", check.path, std::strerror(result.error));
      return result.error == ENOENT ? 127 : 126;
    }
    Report found = report(result, before);
    if (int wanted = error_exitcode(); wanted != 0 && (has_open_findings(found) || losses_.findings))
      return wanted;
    int missing = arguments_.require_calls ? missing_calls(found) : 0;
    if (missing == 0 && (!written_ || !is_whole_)) missing = 3;
    bool succeeded = WIFEXITED(result.status) && WEXITSTATUS(result.status) == 0;
    return missing != 0 && succeeded ? missing : ending(folder, result);
  }

 private:
  int error_exitcode() const {
    return arguments_.error_exitcode.value_or(static_cast<int>(options_.values.exitcode));
  }
  bool halts() const { return arguments_.halt_on_error || options_.values.halt_on_error; }

  // A signal ends this process on the spot, so the private folder has to go before.
  static int ending(PrivateFolder& folder, const LaunchResult& result) {
    if (!WIFEXITED(result.status)) {
      std::error_code error;
      fs::remove_all(folder.path(), error);
    }
    return end_as(result);
  }

  void choose_journal(const fs::path& private_folder) {
    std::string wanted = !arguments_.journal.empty() ? arguments_.journal : text_of(options_.values.journal);
    std::error_code error;
    if (wanted.empty()) {
      journal_ = private_folder / "journal";
    } else {
      journal_ = fs::absolute(wanted, error).lexically_normal();
      if (error)
        throw UsageError{
            fmt::format("--journal '{}' has no place: the current directory is gone ({}); name one that "
                        "begins with /",
                        wanted, error.message())};
    }
    fs::create_directories(journal_, error);
    if (error || access(journal_.c_str(), W_OK | X_OK) != 0)
      throw UsageError{fmt::format("{}: journals cannot be written there: {}", journal_.string(),
                                   error ? error.message() : std::strerror(errno))};
    if (wanted.empty()) fs::permissions(journal_, fs::perms::owner_all, error);
  }

  std::string log_file(int pid) const {
    TextBuffer<4096> path;
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    expand_path(options_.values.log_path.view(), static_cast<std::uint64_t>(pid), host, "", path);
    return std::string(path.view());
  }

  void check_log_path() const {
    if (options_.values.log_path.empty()) return;
    fs::path parent = fs::absolute(log_file(0)).parent_path();
    if (access(parent.c_str(), W_OK | X_OK) != 0 || fs::is_directory(log_file(0)))
      throw UsageError{fmt::format("log_path '{}' cannot be written: {}", text_of(options_.values.log_path),
                                   fs::is_directory(log_file(0)) ? "is a directory" : std::strerror(errno))};
  }

  std::vector<std::pair<std::string, std::string>> environment(const fs::path& library) const {
    const char* present = std::getenv("LD_PRELOAD");
    std::string preload = present != nullptr && *present != '\0'
                              ? std::string(present) + ":" + library.string()
                              : library.string();
    if (!asan_.empty() && preload.find(asan_) == std::string::npos) preload = asan_ + ":" + preload;
    // The report is printed and the exit status decided here, once, for the command and its children.
    std::string own =
        fmt::format("journal={}:print_summary=0:exitcode={}:halt_on_error={}",
                    option_value(journal_.string()), halts() ? error_exitcode() : 0, halts() ? 1 : 0);
    if (!contracts_.empty()) own += fmt::format(":contracts={}", option_value(contracts_.string()));
    std::string options = options_.text.empty() ? own : options_.text + ":" + own;
    std::vector<std::pair<std::string, std::string>> variables = {{"LD_PRELOAD", preload},
                                                                  {"DTYPE_SAN_OPTIONS", options}};
    if (const std::string path = tally_.path(); !path.empty()) variables.emplace_back(kTallyVariable, path);
    // The CUDA driver loads one such library: a profiler that is there already keeps the place. Without a
    // driver the variable would only be seen by the program.
    const bool wanted = options_.values.cupti == Switch::kOn ||
                        (options_.values.cupti == Switch::kAuto && fs::exists("/proc/driver/nvidia"));
    if (wanted && std::getenv("CUDA_INJECTION64_PATH") == nullptr)
      variables.emplace_back("CUDA_INJECTION64_PATH", library.string());
    return variables;
  }

  Report report(const LaunchResult& result, const std::vector<std::string>& before) {
    if (const std::string path = tally_.path(); !path.empty())
      running_on_ = still_running(fmt::format("{}={}", kTallyVariable, path));
    const std::uint64_t begun = tally_.begun();
    std::vector<Journal> journals;
    for (const std::string& file : journal_files(journal_.string()))
      if (!std::binary_search(before.begin(), before.end(), file)) journals.push_back(load_journal(file));
    Report report = build_report(journals, settings_);
    losses_ = tally_.losses(begun, journals.size());
    for (const std::string& loss : losses_.sentences) {
      tell("{}", loss);
      report.not_analysed.push_back({arguments_.command.front(), "", "lost", loss});
    }
    if (!running_on_.empty())
      report.not_analysed.push_back({arguments_.command.front(), "", "note", runs_on(running_on_.size())});
    bool loaded = std::any_of(journals.begin(), journals.end(), [&](const Journal& journal) {
      return journal.process && static_cast<int>(journal.process->pid) == result.pid;
    });
    if (!loaded) not_loaded(result, report);
    const std::vector<std::string> problems = journal_problems(journals);
    for (const std::string& problem : problems) tell("{}", problem);
    is_whole_ = is_whole_ && problems.empty() && losses_.sentences.empty();
    if (options_.values.log_path.empty()) {
      write(report, std::cerr, wants_color(options_.values.color, STDERR_FILENO));
    } else {
      std::ofstream log(log_file(result.pid), std::ios::app);
      write(report, log, options_.values.color == Choice::kAlways);
    }
    return report;
  }

  void not_loaded(const LaunchResult& result, Report& report) {
    if (!options_.values.enabled) return;
    const bool may_wait = options_.values.start == Start::kDormant;
    const std::string why =
        may_wait
            ? "the command was started dormant and left no journal: it was not switched on ('dtype-san on "
              "PID'), or it called no watched kernel then"
            : "the preload library left no sign of life in the command: it was not loaded, or could not "
              "write";
    if (losses_.sentences.empty()) tell("{}", why);
    is_whole_ = is_whole_ && may_wait;
    report.not_analysed.push_back({arguments_.command.front(), "", "not-watched", why});
    if (!may_wait) report.watched->processes.push_back({result.pid, arguments_.command.front(), "", false});
  }

  void write(const Report& report, std::ostream& terminal, bool color) {
    bool summary = options_.values.print_summary;
    bool text_on_terminal = outputs_.front().file.empty() && outputs_.front().format->name == "text";
    std::vector<Output> outputs = outputs_;
    if (text_on_terminal && report.findings.empty()) {  // one line says it
      outputs.erase(outputs.begin());
      if (summary) terminal << "dtype-san: " << clean_line(report) << std::endl;
    }
    const Written written =
        write_outputs(outputs, report, terminal, {.color = color, .quiet = !summary, .frames = frames_});
    // The text that was not asked for goes where the command's own messages went: lost like them.
    written_ = written.files && (written.terminal || !asks_for_terminal());
  }

  bool asks_for_terminal() const {
    return std::any_of(arguments_.formats.begin(), arguments_.formats.end(), [](const std::string& format) {
      return format.find('=') == std::string::npos || format.ends_with("=-");
    });
  }

  std::string clean_line(const Report& report) const {
    const std::uint64_t calls = summarise(report).calls;
    const bool lost = std::any_of(report.not_analysed.begin(), report.not_analysed.end(),
                                  [](const NotAnalysed& entry) { return entry.reason == "lost"; });
    const std::string seen =
        calls == 0
            ? fmt::format("no call to a watched kernel was {}", lost ? "recorded" : "seen")
            : fmt::format("{} {} to watched kernels{}", calls, calls == 1 ? "call" : "calls", kinds(report));
    return (lost ? "no findings recorded, but not all could be; " : "no findings; ") + seen +
           not_seen(report) + stood_in(report) + sources_off(report) + unfinished(report) +
           programs_without_library(report) + (running_on_.empty() ? "" : "; " + runs_on(running_on_.size()));
  }

  static std::string sources_off(const Report& report) {
    std::string text;
    for (const NotAnalysed& entry : report.not_analysed)
      if (entry.reason == kSourceOff) text += "; " + entry.detail;
    return text;
  }

  static std::string stood_in(const Report& report) {
    std::set<std::string> libraries;
    for (const NotAnalysed& entry : report.not_analysed)
      if (entry.reason == kStoodIn) libraries.insert(entry.file);
    std::string text;
    for (const std::string& library : libraries) text += fmt::format("; '{}' was stood in for", library);
    return text;
  }

  // Of PyTorch's operators and Functions, which were checked.
  static std::string kinds(const Report& report) {
    std::string text;
    for (const auto& [api, count] : report.watched->calls)
      if (count != 0 && !api.starts_with("flash_ref"))
        text += fmt::format("{}{} of {}", text.empty() ? ": " : ", ", count, api);
    return text;
  }

  // What a process did after its last record is lost when it could not write, or was killed.
  std::string unfinished(const Report& report) const {
    if (!report.watched) return "";
    const auto& processes = report.watched->processes;
    const auto count = std::count_if(processes.begin(), processes.end(), [&](const WatchedProcess& each) {
      const bool runs_on = std::find(running_on_.begin(), running_on_.end(), each.pid) != running_on_.end();
      return !each.complete && each.replaced_by.empty() && !runs_on;
    });
    if (count == 0) return "";
    return fmt::format("; {} ended without a closing record: calls and findings may be missing",
                       count == 1 ? "a process" : fmt::format("{} processes", count));
  }

  const RunArguments& arguments_;
  CombinedOptions options_;
  std::vector<Output> outputs_;
  Frames frames_;
  ReportSettings settings_;
  fs::path journal_;
  fs::path contracts_;
  std::string asan_;  // the runtime that the command was built with
  RunTally tally_;
  Losses losses_;
  std::vector<pid_t> running_on_;  // processes that did not end with the command
  bool written_ = true;
  bool is_whole_ = true;  // nothing is known to be missing from what was recorded
};

}  // namespace

int run_command(const RunArguments& arguments) { return Run(arguments).go(); }

}  // namespace dtype_guard::san
