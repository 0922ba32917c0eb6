// --explain and --list-rules: what is printed instead of a report. Both give the exit status.
#pragma once

#include <string>

namespace dtype_guard::driver {

// `torch`: the releases between which to tell what changed; empty: all of them. Throws UsageError.
int explain(const std::string& id, const std::string& torch);
int list_rules();

}  // namespace dtype_guard::driver
