// --depfile: what a summary rests on, in the words of make, so that a build system writes it anew when a
// header, a contract or the configuration changes.
#pragma once

#include <string>

#include "analyzer/driver/file_summary.h"
#include "analyzer/driver/options.h"

namespace dtype_guard::driver {

std::string depfile_text(const FileSummary& summary, const Options& options);

}  // namespace dtype_guard::driver
