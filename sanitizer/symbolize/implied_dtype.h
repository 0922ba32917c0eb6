// A call that took its operands, all in one wide dtype, where an operator had widened one of them without
// being asked to: attention is then computed in float32, which the code does not say.
#pragma once

#include "sanitizer/symbolize/journal_content.h"
#include "sanitizer/symbolize/violation.h"

namespace dtype_guard::san {

// Whether that is what a recorded call shows: none of its operands breaks the contract.
bool is_implied_dtype(const Journal& journal, const JournalFinding& recorded);

// Roles are those whose dtype a promotion gave.
Violation describe_implied_dtype(const Journal& journal, const JournalFinding& recorded);

}  // namespace dtype_guard::san
