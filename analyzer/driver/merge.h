// A function in a header is looked at with every file that includes it; its finding is reported once.
#pragma once

#include <vector>

#include "rules/finding/finding.h"

namespace dtype_guard::driver {

// Findings of one rule at one place are one, with all calls and precision settings of each.
void merge_equal(std::vector<Finding>& findings);

}  // namespace dtype_guard::driver
