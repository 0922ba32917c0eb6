// Notes on operands whose origin is not known although origins are noted: the tensor's shape, and where its
// memory was used first, as far as was seen.
#pragma once

#include <string>
#include <vector>

#include "rules/report/report.h"
#include "sanitizer/symbolize/journal_content.h"
#include "sanitizer/symbolize/stacks.h"

namespace dtype_guard::san {

// Adds a note for each such operand of a finding among the blamed roles.
void note_unknown_origins(Report& report, const Finding& finding, const Journal& journal,
                          const JournalFinding& recorded, const std::vector<std::string>& blamed,
                          Stacks& stacks);

}  // namespace dtype_guard::san
