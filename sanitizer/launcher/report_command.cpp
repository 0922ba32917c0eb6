#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "rules/contracts/contract.h"
#include "rules/report/baseline.h"
#include "rules/text/nearest_name.h"
#include "sanitizer/launcher/commands.h"
#include "sanitizer/launcher/message.h"
#include "sanitizer/launcher/newest_journals.h"
#include "sanitizer/launcher/output.h"
#include "sanitizer/launcher/own_contracts.h"
#include "sanitizer/symbolize/findings.h"
#include "sanitizer/symbolize/journals.h"

namespace dtype_guard::san {

CombinedOptions combine_options(const std::vector<std::string>& given) {
  CombinedOptions combined;
  if (const char* variable = std::getenv("DTYPE_SAN_OPTIONS")) combined.text = variable;
  for (const std::string& more : given) combined.text += (combined.text.empty() ? "" : ":") + more;
  std::string complaints;
  parse_options(
      combined.text, combined.values,
      [](void* context, std::string_view message) {
        auto* all = static_cast<std::string*>(context);
        if (!all->empty()) *all += '\n';
        *all += message;
      },
      &complaints);
  if (!complaints.empty()) throw UsageError{complaints};
  return combined;
}

std::string existing_folder(const char* option, const std::string& wanted) {
  namespace fs = std::filesystem;
  if (wanted.empty()) return "";
  std::error_code error;
  fs::path folder = fs::canonical(wanted, error);
  if (error || !fs::is_directory(folder))
    throw UsageError{fmt::format("{}: '{}' is no directory; name one that exists", option, wanted)};
  return folder.string();
}

std::string report_root(const std::string& wanted) {
  std::error_code removed;  // then nothing is relative to it
  return wanted.empty() ? std::filesystem::current_path(removed).string() : existing_folder("--root", wanted);
}

void check_expected(const Options& options, const ContractSet& own, const std::vector<Journal>& journals) {
  std::vector<std::string> known = {"flash", "cudnn", "efficient"};
  for (const ContractSet* set : {&builtin_contracts(), &own})
    for (const Api& api : set->apis) known.push_back(api.name);
  for (const Journal& journal : journals)
    for (const auto& [api, calls] : journal.calls) known.push_back(api);
  for (const std::string& word : listed_words(std::string(options.expect.view())))
    if (std::find(known.begin(), known.end(), word) == known.end())
      throw UsageError{fmt::format(
          "option 'expect': unknown name '{}'{} (expected an API of flash_ref or of --contracts, or a "
          "backend: flash, cudnn, efficient)",
          word, did_you_mean(word, known))};
}

bool wants_color(Choice choice, int descriptor) {
  return choice == Choice::kAlways || (choice == Choice::kAuto && isatty(descriptor) == 1);
}

ReportSettings report_settings(const Options& options, const std::string& root, const ContractSet& own) {
  ReportSettings settings;
  settings.root = root;
  settings.strip_path_prefix = options.strip_path_prefix.view();
  settings.symbolize = options.symbolize;
  settings.own_contracts = own;
  try {
    settings.filter =
        ReportFilter(std::string(options.rules.view()), std::string(options.suppressions.view()),
                     std::string(options.expect.view()));
  } catch (const FilterError& error) {
    throw UsageError{error.what()};
  }
  return settings;
}

bool has_open_findings(const Report& report) {
  return std::any_of(report.findings.begin(), report.findings.end(), is_open);
}

int missing_calls(const Report& report) {
  std::string missing;
  for (const NotAnalysed& entry : report.not_analysed)
    if (entry.reason == "not-called")
      missing += fmt::format("{}'{}'", missing.empty() ? "" : ", ", entry.file);
  if (missing.empty() && summarise(report).calls != 0) return 0;
  tell("--require-calls: {}",
       missing.empty() ? "no call to a watched kernel was seen" : "not called: " + missing);
  return 3;
}

namespace {
Report read_lint_report(const std::string& file) {
  std::error_code unknown;
  if (std::filesystem::is_directory(file, unknown)) {
    throw UsageError{
        fmt::format("--with: '{}' is a folder; expected a report of dtype-lint (--format json=FILE)", file)};
  }
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in)
    throw UsageError{
        fmt::format("--with: '{}' cannot be read: {}; expected a report of dtype-lint (--format json=FILE)",
                    file, std::strerror(errno))};
  try {
    Report report = read_json(text.str(), file);
    if (report.tool == "dtype-lint") return report;
    throw UsageError{fmt::format(
        "--with: '{}' is a report of '{}', expected one of dtype-lint (--format json)", file, report.tool)};
  } catch (const ReportError& error) {
    throw UsageError{fmt::format("--with: {}", error.what())};
  }
}

// What the options name, read before any work; nothing is called fixed, because that a kernel was not called
// in one run says nothing.
class Baselines {
 public:
  explicit Baselines(const ReportArguments& arguments) : target_(arguments.write_baseline) {
    checked("--baseline", [&] {
      if (!arguments.baseline.empty()) known_ = load_baseline(arguments.baseline);
    });
    checked("--write-baseline", [&] {
      if (!target_.empty()) check_baseline_target(target_);
    });
  }

  void use(Report& report) const {
    const AnalysedFile none = [](const std::string&) { return false; };
    if (known_) apply_baseline(report, *known_, none);
    if (target_.empty()) return;
    checked("--write-baseline", [&] {
      save_baseline(target_, report);
      if (!known_) apply_baseline(report, load_baseline(target_), none);
    });
  }

 private:
  template <typename Work>
  static void checked(const char* option, const Work& work) {
    try {
      work();
    } catch (const ReportError& error) {
      throw UsageError{fmt::format("{}: {}", option, error.what())};
    }
  }

  std::optional<Baseline> known_;
  std::string target_;
};
}  // namespace

int report_command(const ReportArguments& arguments) {
  CombinedOptions options = combine_options(arguments.options);
  std::vector<Output> outputs = parse_outputs(arguments.formats);
  const Frames frames = parse_frames(arguments.frames);
  std::optional<Report> lint;
  if (!arguments.with.empty()) lint = read_lint_report(arguments.with);
  const Baselines baselines(arguments);
  std::vector<Journal> journals =
      load_journals(arguments.journals.empty() ? newest_journals(options.values) : arguments.journals);
  check_outputs(outputs);
  ReportSettings settings =
      report_settings(options.values, report_root(arguments.root), read_own_contracts(arguments.contracts));
  check_expected(options.values, settings.own_contracts, journals);
  settings.lint = std::move(lint);
  settings.sysroot = existing_folder("--sysroot", arguments.sysroot);
  Report report = build_report(journals, settings);
  baselines.use(report);
  std::vector<std::string> problems = journal_problems(journals);
  for (const std::string& problem : problems) tell("{}", problem);
  const TextOptions text{.color = wants_color(options.values.color, STDOUT_FILENO),
                         .quiet = !options.values.print_summary,
                         .frames = frames};
  const Written written = write_outputs(outputs, report, std::cout, text);
  const bool is_whole =
      std::all_of(journals.begin(), journals.end(), [](const Journal& journal) { return journal.lost == 0; });
  if (!problems.empty() || !is_whole) return 3;
  if (!written.terminal || !written.files) return 2;
  if (has_open_findings(report)) return 1;
  return arguments.require_calls ? missing_calls(report) : 0;
}

}  // namespace dtype_guard::san
