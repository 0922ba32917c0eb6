// One promotion is one finding, whatever number of calls it reaches: the defect is in one line.
#pragma once

#include <vector>

#include "rules/finding/finding.h"

namespace dtype_guard::san {

// Of the run-time findings that open with the same operator, which widened there, the gravest stays, the
// first among equals: with the others' calls as sinks and stacks, their rules, counts and occurrences.
void merge_causes(std::vector<Finding>& findings);

// Counts of the same process are added up.
void merge_occurrence(Finding& known, const Occurrence& more);

bool same_stack(const std::vector<StackFrame>& a, const std::vector<StackFrame>& b);

}  // namespace dtype_guard::san
