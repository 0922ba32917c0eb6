// From summaries to a report: findings filtered, merged, suppressed and compared with the baseline.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analyzer/driver/file_summary.h"
#include "analyzer/driver/options.h"
#include "analyzer/driver/program.h"
#include "rules/report/report.h"
#include "rules/report/source_files.h"

namespace dtype_guard::driver {

// All that files were evaluated for.
struct ProgramAnswer {
  ProgramResult result;
  std::vector<UnseenCall> not_lowered;  // of files with errors, and of code outside functions
};

struct ReportScope {
  std::vector<std::string> headers;  // asked for, and read through other files
  std::set<std::string> carriers;    // files that were read for the sake of headers alone
  std::map<std::string, std::string>
      texts;                               // of files that are not on disk as they were read, by report name
  std::vector<NotAnalysed> missing;        // sources of which nothing could be read
  std::vector<std::vector<Edit>> refused;  // fixes that did not stand the test on the text
  bool on_trial = false;                   // of an edited text that is not shown: without notes
  // What the summaries' modules are linked to, where that was done; they need not hold functions then.
  LinkedProgram* linked = nullptr;
  SourceFiles* disk = nullptr;  // texts that were read before, where they are kept
  // What an earlier run came to: summaries need not hold code then. Else who wants to keep it.
  const ProgramAnswer* known = nullptr;
  std::function<void(const ProgramAnswer& answer)> keep = nullptr;
  flow::KeptGroups* groups = nullptr;  // what roots gave in an earlier run, and after this one
};

// Places of notebooks are in the lines of their code, with their cells: CodeOfFiles counts them in files.
Report report_on(std::vector<FileSummary> summaries, const std::string& root, const Options& options,
                 const ReportScope& scope = {});

}  // namespace dtype_guard::driver
