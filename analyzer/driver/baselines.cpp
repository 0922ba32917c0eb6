#include "analyzer/driver/baselines.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <sstream>

#include "analyzer/driver/usage_error.h"

namespace dtype_guard::driver {

void check_baselines(Options& options) {
  try {
    if (!options.baseline.empty()) options.known = load_baseline(options.baseline);
  } catch (const ReportError& error) {
    throw UsageError(fmt::format("--baseline: {}", error.what()));
  }
  // An entry about a rule that this run does not report is neither there nor gone.
  if (options.known) {
    std::erase_if(*options.known,
                  [&](const BaselineEntry& each) { return !options.rules.enabled(each.rule); });
  }
  try {
    if (!options.write_baseline.empty()) check_baseline_target(options.write_baseline);
  } catch (const ReportError& error) {
    throw UsageError(fmt::format("--write-baseline: {}", error.what()));
  }
}

void use_baselines(Report& report, const Options& options, const std::vector<std::string>& files) {
  const bool whole_project = options.sources.empty() && options.link.empty();
  const AnalysedFile analysed = [&](const std::string& file) {
    return whole_project || std::find(files.begin(), files.end(), file) != files.end();
  };
  if (options.known) apply_baseline(report, *options.known, analysed);
  if (options.write_baseline.empty()) return;
  normalise(report);
  try {
    save_baseline(options.write_baseline, report);
  } catch (const ReportError& error) {
    throw UsageError(fmt::format("--write-baseline: {}", error.what()));
  }
  if (options.known) return;
  std::ostringstream written;
  write_baseline(written, report);
  apply_baseline(report, read_baseline(written.str(), options.write_baseline), analysed);
}

}  // namespace dtype_guard::driver
