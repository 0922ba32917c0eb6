// Comments that accept a finding: `// NOLINT(dtype-RULE): reason` on the promoting line or the call's, or
// `// NOLINTNEXTLINE(dtype-RULE): reason` on the line before. A bare NOLINT hides too, as in clang-tidy.
#pragma once

#include <string>
#include <vector>

#include "rules/finding/finding.h"

namespace dtype_guard::driver {

// `root` is the folder that the findings' file names are relative to.
void apply_suppressions(std::vector<Finding>& findings, const std::string& root);

}  // namespace dtype_guard::driver
