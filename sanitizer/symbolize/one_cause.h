// One promotion is one finding, whatever number of calls it reaches: the defect is in one line.
#pragma once

#include <vector>

#include "rules/finding/finding.h"

namespace dtype_guard::san {

// Of the run-time findings that open with the same operator at the same line, which widened there, from
// wherever that function was called, the gravest stays, the first among equals: with the others' calls as
// sinks and stacks, their rules, counts and occurrences. Of those whose operand was cast or made there: where
// each call that it reaches is the same one, too.
void merge_causes(std::vector<Finding>& findings);

// Whether `finding` is the call of `known` with its dtypes, seen while origins were not noted, or of operands
// that are older than that.
bool is_without_its_origin(const Finding& finding, const Finding& known);

// Counts of the same process are added up.
void merge_occurrence(Finding& known, const Occurrence& more);

bool same_stack(const std::vector<StackFrame>& a, const std::vector<StackFrame>& b);

}  // namespace dtype_guard::san
