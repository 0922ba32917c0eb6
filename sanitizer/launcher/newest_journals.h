// The journals that `dtype-san report` takes when none is named: those of the last job that was preloaded by
// hand, in the folder where the library puts them.
#pragma once

#include <string>
#include <vector>

#include "sanitizer/settings/options.h"

namespace dtype_guard::san {

// The newest journal in the folder that `options` or the default names, and those written in the minute
// before it: ranks and children of a job end together. Says which; UsageError where there is none.
std::vector<std::string> newest_journals(const Options& options);

}  // namespace dtype_guard::san
