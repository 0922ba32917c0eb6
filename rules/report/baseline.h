// A baseline: the findings that a project knows and does not want to hear of again. A file of fingerprints,
// with enough words beside them for a reviewer; without lines, so that it only changes when findings do.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "rules/report/report.h"

namespace dtype_guard {

struct BaselineEntry {
  std::string fingerprint;
  std::string rule;
  std::string file;
  std::string function;
  std::string message;
  Level level = Level::kError;
  bool suppressed = false;  // when the baseline was written
};
using Baseline = std::vector<BaselineEntry>;

// "schema": "dtype-guard/baseline/1"; all findings but fixed ones, those that are suppressed marked.
void write_baseline(std::ostream& out, const Report& report);
// Also reads a JSON report, whose findings it takes. Throws ReportError with place and expectation.
Baseline read_baseline(std::string_view text, const std::string& file);

// The same with files, for command lines. Throw ReportError with what is wrong and what to do.
Baseline load_baseline(const std::filesystem::path& file);
void check_baseline_target(const std::filesystem::path& file);  // that it can be written, before any work
void save_baseline(const std::filesystem::path& file, const Report& report);

// Whether this run could have found something in the file; a partial run must not call the rest fixed.
using AnalysedFile = std::function<bool(const std::string& file)>;

// Marks every finding new or unchanged, adds what the baseline has and the report has not as fixed, and
// normalises. An entry holds for its own file, and for another only when its own is no more (report.root
// tells), so that a baseline of one file does not hide the same finding in the next. A finding that was
// suppressed and no longer is counts as new, since it was not accepted as known, and one that is gone is not
// named as fixed. Files that could not be analysed are left out of the latter. Idempotent.
void apply_baseline(Report& report, const Baseline& baseline, const AnalysedFile& analysed = {});

}  // namespace dtype_guard
