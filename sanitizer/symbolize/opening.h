// The line with which a finding opens: the one to edit, where an operand came by the dtype that is wrong.
#pragma once

#include "rules/finding/finding.h"
#include "sanitizer/symbolize/journal_content.h"

namespace dtype_guard::san {

// Whether an operator gave a wider dtype than it read.
bool is_widening(const PathStep& step);

// Where the first operand that an operator widened came by its dtype; else where the first with an origin
// did; nullptr where none has an origin.
const PathStep* opening_step(const Finding& finding);

// Of a finding with a path: where the first operand that an operator widened came by its dtype; else where
// the first with an origin did.
SourceLocation opening(const Finding& finding);

// Whether an operator made the operand wider than some other one is. Such a one is told beside those to
// blame: half tables are what is to be cast where x is float32, and x may be what strayed.
bool is_widened(const Journal& journal, const JournalFinding& recorded, const JournalOrigin& origin);

}  // namespace dtype_guard::san
