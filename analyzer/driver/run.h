// One run: every file is read, all are evaluated as one program, and the findings go into one report.
#pragma once

#include "analyzer/driver/options.h"
#include "analyzer/driver/sources.h"

namespace dtype_guard::driver {

// Writes what the options ask for; the exit status of dtype-lint.
int run(const Options& options, SourceList sources);
// The same for the summaries that --link names.
int run_linked(const Options& options);

}  // namespace dtype_guard::driver
