// From sources to summaries: each file from the cache or through Clang, several at a time.
#pragma once

#include <vector>

#include "analyzer/driver/cache.h"
#include "analyzer/driver/file_summary.h"
#include "analyzer/driver/options.h"
#include "analyzer/driver/sources.h"

namespace dtype_guard::driver {

// In the order of the sources, whatever finished first.
std::vector<FileSummary> read_sources(const Options& options, const SourceList& sources, Cache& cache);

}  // namespace dtype_guard::driver
