// One run: every file is lowered and evaluated on its own, then all findings go into one report.
#pragma once

#include "analyzer/driver/options.h"
#include "analyzer/driver/sources.h"

namespace dtype_guard::driver {

// Writes what the options ask for; the exit status of dtype-lint.
int run(const Options& options, const SourceList& sources);

}  // namespace dtype_guard::driver
