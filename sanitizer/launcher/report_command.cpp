#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "rules/report/baseline.h"
#include "sanitizer/launcher/commands.h"
#include "sanitizer/launcher/output.h"
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

std::string report_root(const std::string& wanted) {
  namespace fs = std::filesystem;
  if (wanted.empty()) return fs::current_path().string();
  std::error_code error;
  fs::path root = fs::canonical(wanted, error);
  if (error || !fs::is_directory(root)) throw UsageError{fmt::format("--root: '{}' is no directory", wanted)};
  return root.string();
}

bool wants_color(Choice choice, int descriptor) {
  return choice == Choice::kAlways || (choice == Choice::kAuto && isatty(descriptor) == 1);
}

namespace {
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
  const Baselines baselines(arguments);
  std::vector<Journal> journals = load_journals(arguments.journals);
  check_outputs(outputs);
  ReportSettings settings{report_root(arguments.root), std::string(options.values.strip_path_prefix.view()),
                          options.values.symbolize};
  Report report = build_report(journals, settings);
  baselines.use(report);
  std::vector<std::string> problems = journal_problems(journals);
  for (const std::string& problem : problems) fmt::print(stderr, "dtype-san: {}\n", problem);
  TextOptions text{wants_color(options.values.color, STDOUT_FILENO), !options.values.print_summary};
  bool written = write_outputs(outputs, report, std::cout, text);
  if (!problems.empty()) return 3;
  if (!written) return 2;
  return std::any_of(report.findings.begin(), report.findings.end(), is_open) ? 1 : 0;
}

}  // namespace dtype_guard::san
