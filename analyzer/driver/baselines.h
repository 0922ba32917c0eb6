// --baseline and --write-baseline: what a project knows already does not count, and what is gone is named.
#pragma once

#include <string>
#include <vector>

#include "analyzer/driver/options.h"
#include "rules/report/report.h"

namespace dtype_guard::driver {

// Reads and checks what the options name. Throws UsageError.
void check_baselines(Options& options);

// Writes the baseline that was asked for and compares with the known one, or, where none is named, with what
// was just written: a run that writes a baseline has nothing new to report. `files` are those of this run; an
// entry about another file is not called fixed.
void use_baselines(Report& report, const Options& options, const std::vector<std::string>& files);

}  // namespace dtype_guard::driver
