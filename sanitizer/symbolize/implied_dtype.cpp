#include "sanitizer/symbolize/implied_dtype.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "rules/contracts/roles.h"
#include "rules/text/lists.h"
#include "sanitizer/protocol/journal.h"
#include "sanitizer/symbolize/opening.h"

namespace dtype_guard::san {

bool is_implied_dtype(const Journal& journal, const JournalFinding& recorded) {
  if (recorded.reinterpreted || recorded.origins.empty()) return false;
  const bool is_promoted =
      std::any_of(recorded.origins.begin(), recorded.origins.end(), [&](const JournalOrigin& origin) {
        const auto site =
            origin.sites.empty() ? journal.sites.end() : journal.sites.find(origin.sites.front());
        return site != journal.sites.end() && is_promotion(site->second);
      });
  return is_promoted &&
         std::all_of(recorded.operands.begin(), recorded.operands.end(), [&](const JournalOperand& operand) {
           if ((operand.flags & kOperandPresent) == 0 || role_kind(operand.role) == RoleKind::kMask)
             return true;
           const auto dtype = dtype_of(operand.packed);
           if (!operand.accepts.empty() && (!dtype || !operand.accepts.contains(*dtype))) return false;
           const JournalOperand* other =
               operand.same_as >= 0 ? &recorded.operands[static_cast<std::size_t>(operand.same_as)] : nullptr;
           return other == nullptr || other->packed == operand.packed;
         });
}

Violation describe_implied_dtype(const Journal& journal, const JournalFinding& recorded) {
  Violation violation;
  violation.rule = "attention-implicit-promotion";
  std::string dtype;
  for (const JournalOrigin& origin : recorded.origins) {
    const auto site = origin.sites.empty() ? journal.sites.end() : journal.sites.find(origin.sites.front());
    if (site == journal.sites.end() || !is_promotion(site->second)) continue;
    violation.roles.push_back(recorded.operands[origin.operand].role);
    dtype = dtype_text(recorded.operands[origin.operand].packed);
  }
  violation.message = fmt::format(
      "{} {} '{}' by an operator that promoted, and '{}' is computed in it: cast back before the call, or "
      "cast the "
      "wide operand where it meets the half one",
      quoted_list(violation.roles, "and"), violation.roles.size() == 1 ? "is" : "are", dtype, recorded.api);
  return violation;
}

}  // namespace dtype_guard::san
