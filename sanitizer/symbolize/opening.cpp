#include "sanitizer/symbolize/opening.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "rules/dtype/dtype.h"
#include "sanitizer/protocol/journal.h"
#include "sanitizer/symbolize/violation.h"

namespace dtype_guard::san {
namespace {

std::size_t bits_of(const std::string& dtype) {
  const std::optional<Dtype> known = parse_dtype(dtype);
  return known ? static_cast<std::size_t>(bits(*known)) : 0;
}

// Back from the writer as long as the dtype was that one already: there it came in.
const PathStep& first_of_dtype(const std::vector<PathStep>& path, std::size_t at) {
  while (at > 0 && path[at - 1].after == path[at].after) --at;
  return path[at];
}

}  // namespace

bool is_widening(const PathStep& step) {
  return !step.before.empty() && bits_of(step.before) < bits_of(step.after);
}

const PathStep* opening_step(const Finding& finding) {
  const PathStep* chosen = nullptr;
  for (const FindingOperand& operand : finding.operands) {
    if (!operand.origin) continue;
    const PathStep& first = first_of_dtype(finding.path, *operand.origin);
    if (chosen == nullptr || (!is_widening(*chosen) && is_widening(first))) chosen = &first;
  }
  return chosen;
}

SourceLocation opening(const Finding& finding) {
  const PathStep* step = opening_step(finding);
  return step != nullptr ? step->location : finding.path.back().location;
}

bool is_widened(const Journal& journal, const JournalFinding& recorded, const JournalOrigin& origin) {
  constexpr std::size_t kHalf = 16;
  const auto site = origin.sites.empty() ? journal.sites.end() : journal.sites.find(origin.sites.front());
  if (site == journal.sites.end() || !is_widening(origin_step(site->second, ""))) return false;
  const std::size_t own = bits_of(dtype_text(recorded.operands[origin.operand].packed));
  return std::any_of(recorded.operands.begin(), recorded.operands.end(), [&](const JournalOperand& other) {
    const bool is_present = (other.flags & kOperandPresent) != 0;
    const std::size_t width = is_present ? bits_of(dtype_text(other.packed)) : 0;
    return width >= kHalf && width < own;
  });
}

}  // namespace dtype_guard::san
