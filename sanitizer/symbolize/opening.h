// How an operand came by its dtype, as a report tells it, and the line with which a finding opens: the one to
// edit, where an operand came by the dtype that is wrong.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rules/finding/finding.h"
#include "sanitizer/symbolize/journal_content.h"

namespace dtype_guard::san {

// Whether the site is an operator that raised an operand to the dtype that another one had.
bool is_promotion(const JournalFinding& site);

// The sites of an origin's chain (the writer first) that the report tells, in the order in which they ran: of
// operators those back to the first of the promotions that follow one another, or the one cast or factory.
// A cast to the dtype that was there already is a step of the way between such, and begins none.
std::vector<std::uint32_t> way_from_origin(const std::map<std::uint32_t, JournalFinding>& sites,
                                           const std::vector<std::uint32_t>& chain);

// Of a promotion in a chain: the operator that gave the operand which was as wide its dtype; nullptr where
// that is not known.
const JournalFinding* source_of_wide_operand(const std::map<std::uint32_t, JournalFinding>& sites,
                                             const std::vector<std::uint32_t>& chain, std::uint32_t number);

// One call of an origin's chain; `roles` are the operands that it became, where it wrote those itself.
PathStep origin_step(const JournalFinding& site, const std::vector<std::string>& roles);

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
