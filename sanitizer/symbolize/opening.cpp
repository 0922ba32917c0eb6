#include "sanitizer/symbolize/opening.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "rules/dtype/dtype.h"
#include "rules/dtype/promotion.h"
#include "rules/text/lists.h"
#include "sanitizer/protocol/journal.h"
#include "sanitizer/symbolize/violation.h"

namespace dtype_guard::san {
namespace {

struct StepDtypes {
  std::vector<std::string> inputs;
  std::string after;
};

StepDtypes dtypes_of(const JournalFinding& site) {
  StepDtypes dtypes;
  for (const JournalOperand& operand : site.operands) {
    if ((operand.flags & kOperandPresent) == 0) continue;
    std::string dtype = dtype_text(operand.packed);
    if ((operand.flags & kOperandOutput) == 0)
      dtypes.inputs.push_back(std::move(dtype));
    else if (dtypes.after.empty() && operand.packed != 0)
      dtypes.after = std::move(dtype);
  }
  return dtypes;
}

// A region of compiled code, of which no dtype is known: it is no operator.
bool is_region(const JournalFinding& site, const StepDtypes& dtypes) {
  return dtypes.inputs.empty() && dtypes.after.empty() && !site.operands.empty();
}

// A cast to the dtype that its operand has: it changes nothing, and says that this dtype is meant.
bool is_to_own_dtype(const StepDtypes& dtypes) {
  return !dtypes.inputs.empty() && std::all_of(dtypes.inputs.begin(), dtypes.inputs.end(),
                                               [&](const std::string& one) { return one == dtypes.after; });
}

// float16 and bfloat16 promote to float32, which neither of them is.
bool is_join_of_others(const StepDtypes& dtypes) {
  std::optional<Dtype> joined;
  bool differ = false;
  for (const std::string& input : dtypes.inputs) {
    const std::optional<Dtype> dtype = parse_dtype(input);
    if (!dtype) return false;
    differ = differ || input != dtypes.inputs.front();
    const PromotionResult both = promote_types(joined.value_or(*dtype), *dtype);
    if (!std::holds_alternative<Dtype>(both)) return false;
    joined = std::get<Dtype>(both);
  }
  return differ && joined == parse_dtype(dtypes.after);
}

// An operator of PyTorch: its operands have no roles.
bool is_operator(const JournalFinding& site) {
  return std::all_of(site.operands.begin(), site.operands.end(),
                     [](const JournalOperand& operand) { return operand.role.empty(); });
}

bool keeps_dtype(const JournalFinding& site) { return is_operator(site) && is_to_own_dtype(dtypes_of(site)); }

// Whether an operator of a chain is told beside the one behind it.
bool leads_on(const JournalFinding& later, const JournalFinding& earlier) {
  return keeps_dtype(earlier) || (is_promotion(later) && is_promotion(earlier));
}

PathStep operator_step(const JournalFinding& site, const std::vector<std::string>& roles) {
  const StepDtypes dtypes = dtypes_of(site);
  PathStep step;
  step.op = site.api;
  step.after = dtypes.after;
  const auto other = std::find_if(dtypes.inputs.begin(), dtypes.inputs.end(),
                                  [&](const std::string& dtype) { return dtype != dtypes.after; });
  step.before = other != dtypes.inputs.end() ? *other : dtypes.inputs.empty() ? "" : dtypes.inputs.front();
  const char* how = dtypes.inputs.empty()     ? "made"
                    : is_promotion(site)      ? "promoted"
                    : is_to_own_dtype(dtypes) ? "kept so"
                                              : "cast";
  const char* verb = roles.empty() ? "" : roles.size() == 1 ? " is " : " are ";
  if (is_region(site, dtypes)) {
    step.note = fmt::format(
        "{}{}made by code that torch.compile compiled ({}), of the function here or of what that calls",
        quoted_list(roles, "and"), verb, site.api);
    return step;
  }
  step.note = fmt::format("{}{}{} by {}({})", quoted_list(roles, "and"), verb, how, site.api,
                          fmt::join(dtypes.inputs, ", "));
  return step;
}

}  // namespace

bool is_promotion(const JournalFinding& site) {
  if (!is_operator(site)) return false;
  const StepDtypes dtypes = dtypes_of(site);
  const auto equal =
      static_cast<std::size_t>(std::count(dtypes.inputs.begin(), dtypes.inputs.end(), dtypes.after));
  return equal != 0 ? equal != dtypes.inputs.size() : is_join_of_others(dtypes);
}

std::vector<std::uint32_t> way_from_origin(const std::map<std::uint32_t, JournalFinding>& sites,
                                           const std::vector<std::uint32_t>& chain) {
  std::vector<std::uint32_t> way;
  const JournalFinding* later = nullptr;  // the last of the way that did not find its dtype there
  std::size_t told = 0;                   // the way without those that did and lead nowhere
  for (const std::uint32_t number : chain) {
    const auto found = sites.find(number);
    if (found == sites.end()) continue;
    if (later != nullptr && is_operator(found->second) && !leads_on(*later, found->second)) break;
    way.push_back(number);
    if (keeps_dtype(found->second)) continue;
    later = &found->second;
    told = way.size();
  }
  if (told != 0) way.resize(told);
  return {way.rbegin(), way.rend()};
}

const JournalFinding* source_of_wide_operand(const std::map<std::uint32_t, JournalFinding>& sites,
                                             const std::vector<std::uint32_t>& chain, std::uint32_t number) {
  const auto promotion = sites.find(number);
  if (promotion == sites.end() || !is_promotion(promotion->second)) return nullptr;
  auto at = std::find(chain.begin(), chain.end(), number);
  if (at == chain.end()) return nullptr;
  const auto is_kept = [&](std::uint32_t one) { return sites.contains(one) && keeps_dtype(sites.at(one)); };
  at = std::find_if_not(at + 1, chain.end(), is_kept);
  const auto source = at == chain.end() ? sites.end() : sites.find(*at);
  const bool gave_it = source != sites.end() && is_operator(source->second) &&
                       dtypes_of(source->second).after == dtypes_of(promotion->second).after;
  return gave_it ? &source->second : nullptr;
}

PathStep origin_step(const JournalFinding& site, const std::vector<std::string>& roles) {
  if (is_operator(site)) return operator_step(site, roles);
  std::string inputs, before, after;
  for (const JournalOperand& operand : site.operands) {
    if (!((operand.flags & kOperandPresent) != 0)) continue;
    std::string dtype = dtype_text(operand.packed);
    if ((operand.flags & kOperandOutput) != 0) {
      if (after.empty()) after = dtype;
      continue;
    }
    if (before.empty()) before = dtype;
    inputs += fmt::format("{}{}: {}", inputs.empty() ? "" : ", ", operand.role, dtype);
  }
  PathStep step;
  step.op = site.api;
  step.before = before;
  step.after = after;
  step.note = roles.empty() ? fmt::format("{} ({})", site.api, inputs)
                            : fmt::format("{} {} written as {} by {} ({})", quoted_list(roles, "and"),
                                          roles.size() == 1 ? "was" : "were", after, site.api, inputs);
  return step;
}

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
  if (site == journal.sites.end() || !is_widening(origin_step(site->second, {}))) return false;
  const std::size_t own = bits_of(dtype_text(recorded.operands[origin.operand].packed));
  return std::any_of(recorded.operands.begin(), recorded.operands.end(), [&](const JournalOperand& other) {
    const bool is_present = (other.flags & kOperandPresent) != 0;
    const std::size_t width = is_present ? bits_of(dtype_text(other.packed)) : 0;
    return width >= kHalf && width < own;
  });
}

}  // namespace dtype_guard::san
