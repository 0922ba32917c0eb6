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
// Throws UsageError. Nothing is called fixed: that a kernel was not called in one run says nothing.
void use_baselines(Report& report, const ReportArguments& arguments) {
  const AnalysedFile none = [](const std::string&) { return false; };
  try {
    if (!arguments.baseline.empty()) apply_baseline(report, load_baseline(arguments.baseline), none);
    if (arguments.write_baseline.empty()) return;
    save_baseline(arguments.write_baseline, report);
    if (arguments.baseline.empty()) apply_baseline(report, load_baseline(arguments.write_baseline), none);
  } catch (const ReportError& error) {
    throw UsageError{
        fmt::format("{}: {}", arguments.baseline.empty() ? "--write-baseline" : "--baseline", error.what())};
  }
}
}  // namespace

int report_command(const ReportArguments& arguments) {
  CombinedOptions options = combine_options(arguments.options);
  std::vector<Output> outputs = parse_outputs(arguments.formats);
  std::vector<Journal> journals = load_journals(arguments.journals);
  check_outputs(outputs);
  ReportSettings settings{report_root(arguments.root), std::string(options.values.strip_path_prefix.view()),
                          options.values.symbolize};
  Report report = build_report(journals, settings);
  use_baselines(report, arguments);
  std::vector<std::string> problems = journal_problems(journals);
  for (const std::string& problem : problems) fmt::print(stderr, "dtype-san: {}\n", problem);
  TextOptions text{wants_color(options.values.color, STDOUT_FILENO), !options.values.print_summary};
  bool written = write_outputs(outputs, report, std::cout, text);
  if (!problems.empty()) return 3;
  if (!written) return 2;
  return std::any_of(report.findings.begin(), report.findings.end(), is_open) ? 1 : 0;
}

}  // namespace dtype_guard::san
