// Casts that feed attention: the operand had another dtype right before, and each call pays for the
// conversion. A hint and not a proof, because a copy that is no kernel could have written there in between.
#pragma once

#include <vector>

#include "rules/finding/finding.h"
#include "sanitizer/symbolize/journal_reader.h"

namespace dtype_guard::san {

struct CastFinding {
  Finding finding;           // without location and backtrace
  const JournalCast* first;  // whose stack it is
};

// One for each attention kernel and pair of dtypes. Casts whose kernels' names do not prove them are left
// out.
std::vector<CastFinding> cast_findings(const Journal& journal);

}  // namespace dtype_guard::san
