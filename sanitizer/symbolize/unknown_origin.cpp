#include "sanitizer/symbolize/unknown_origin.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sanitizer/protocol/journal.h"
#include "sanitizer/symbolize/one_cause.h"
#include "sanitizer/symbolize/violation.h"

namespace dtype_guard::san {
namespace {

// In times with origins alone they are noted; what was seen in the one before does not hold any more.
constexpr const char* kSince = " since origins were last switched on";

const char* reason(std::uint32_t use) {
  if (use == kHasNoMemory)
    return "it stands for another tensor (traced, batched or nested); where torch.compile traced the call, "
           "the line is that which calls the compiled function";
  return "it is older than the watching, or was made while that was off, or by code that is not watched";
}

std::string first_use(const Journal& journal, std::uint32_t number, Stacks& stacks) {
  if (number == kNoUseSeen) return fmt::format("; no use of its memory before this call was seen{}", kSince);
  const auto site = journal.sites.find(number);
  if (site == journal.sites.end()) return "";
  const SourceLocation place = stacks.place_of(stacks.resolve(journal, site->second));
  std::string where = place.line != 0 ? fmt::format(" at {}:{}", place.file, place.line) : "";
  if (!place.function.empty()) where += fmt::format(" ({})", place.function);
  return fmt::format("; the first use of its memory that was seen{}, which is not its origin, is '{}'{}",
                     kSince, site->second.api, where);
}

}  // namespace

void UnknownOrigins::note(const Finding& finding, const Journal& journal, const JournalFinding& recorded,
                          const std::vector<std::string>& blamed, Stacks& stacks) {
  for (std::size_t i = 0; i < recorded.operands.size(); ++i) {
    const JournalOperand& one = recorded.operands[i];
    if ((recorded.without_origin >> i & 1U) == 0 ||
        std::find(blamed.begin(), blamed.end(), one.role) == blamed.end())
      continue;
    const auto use = recorded.first_uses.find(i);
    const bool has_use = use != recorded.first_uses.end();
    std::string text = fmt::format("which operator made '{}' of {} '{}' is not known: {}", one.role,
                                   recorded.api, dtype_text(one.packed), reason(has_use ? use->second : 0));
    if (!one.shape.empty()) text += fmt::format("; it is of shape {}", fmt::join(one.shape, "x"));
    if (has_use) text += first_use(journal, use->second, stacks);
    notes_.push_back({finding, {finding.location.file, finding.location.function, "note", text}});
  }
}

void UnknownOrigins::tell(Report& report) const {
  for (const auto& [finding, entry] : notes_)
    if (std::none_of(report.findings.begin(), report.findings.end(),
                     [&](const Finding& known) { return is_without_its_origin(finding, known); }))
      report.not_analysed.push_back(entry);
}

}  // namespace dtype_guard::san
