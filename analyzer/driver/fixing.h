// --fix and --export-fixes: fixes that go together are put into the text of the sources, which is read again;
// only what makes clean what it was offered for, and breaks nothing, is written or exported.
#pragma once

#include <vector>

#include "analyzer/driver/cache.h"
#include "analyzer/driver/file_summary.h"
#include "analyzer/driver/options.h"
#include "analyzer/driver/sources.h"
#include "rules/report/report.h"

namespace dtype_guard::driver {

struct FixedSources {
  Report report;                       // with --fix: of the files as they are now
  std::vector<FileSummary> summaries;  // likewise
};

// Writes files, and says on standard error what was fixed and what was not and why.
FixedSources fix_sources(std::vector<FileSummary> summaries, const Options& options,
                         const SourceList& sources, Cache& cache);

}  // namespace dtype_guard::driver
