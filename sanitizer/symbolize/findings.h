// Turns journals into the report that both tools write: stacks become functions and lines, records of the
// same mistake in several threads and processes become one finding with its occurrences, and `watched` says
// what was seen and what was not looked at.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rules/contracts/contract.h"
#include "rules/report/report.h"
#include "sanitizer/symbolize/journal_reader.h"
#include "sanitizer/symbolize/report_filter.h"

namespace dtype_guard::san {

struct ReportSettings {
  std::string root;               // files below it are shown relative to it
  std::string strip_path_prefix;  // removed from other file names
  bool symbolize = true;
  std::string sysroot;  // where the watched machine's files are looked for first
  ReportFilter filter;
  ContractSet own_contracts;   // of the user's APIs
  std::optional<Report> lint;  // a static report to be put beside the run
};

Report build_report(const std::vector<Journal>& journals, const ReportSettings& settings);

// "FILE: PROBLEM" for each problem of each journal.
std::vector<std::string> journal_problems(const std::vector<Journal>& journals);

}  // namespace dtype_guard::san
