// Headers that were asked for are read through files with an #include of them, found by their text. Whether
// such a file includes the header as it is compiled, only Clang knows.
#pragma once

#include <functional>
#include <vector>

#include "analyzer/driver/cache.h"
#include "analyzer/driver/file_summary.h"
#include "analyzer/driver/options.h"
#include "analyzer/driver/sources.h"

namespace dtype_guard::driver {

// In the order of the sources' commands; read_sources() where it is left out.
using ReadFiles = std::function<std::vector<FileSummary>(const SourceList& sources)>;

// Reads the sources, and for a header that none of them came by the next files that may include it. `sources`
// is then as if those had been chosen that do. Throws UsageError where nothing is left to look at.
std::vector<FileSummary> read_with_headers(const Options& options, SourceList& sources, Cache& cache,
                                           const ReadFiles& read = {});

}  // namespace dtype_guard::driver
