#include "analyzer/flow/caller_casts.h"

#include <algorithm>

namespace dtype_guard::flow {
namespace {
constexpr std::size_t kMostCallers = 4;

bool is_widened_by_cast(const SinkRecord& record, const Origins& origins) {
  return std::any_of(record.operands.begin(), record.operands.end(), [&](const SinkOperand& arrived) {
    return !arrived.alternatives.empty() &&
           std::all_of(arrived.alternatives.begin(), arrived.alternatives.end(),
                       [&](const Alternative& each) {
                         const Origin* origin = origins.find(each.origin);
                         return origin && origin->kind == Origin::Kind::kCast && origin->widens_half();
                       });
  });
}
}  // namespace

// A program's own main hands it what a demonstration has.
std::vector<std::uint32_t> CallerCasts::callers_of(std::uint32_t root) const {
  std::vector<std::uint32_t> out;
  for (std::uint32_t id = 0; id < program_.functions.module().functions.size(); ++id) {
    const std::vector<std::uint32_t>& callees = program_.functions.callees(id);
    const bool calls = std::binary_search(callees.begin(), callees.end(), root);
    if (calls && id != root && !program_.functions.function(id).is_main) out.push_back(id);
  }
  return out;
}

const std::vector<CallerCasts::Arrived>& CallerCasts::arrived_from(std::uint32_t caller,
                                                                   const DefectOptions& how) {
  const auto [known, is_new] = known_.try_emplace(caller);
  if (!is_new) return known->second;
  Engine engine(program_, options_, setting_, torch_version_, work_);
  try {
    engine.evaluate_root(caller, {}, OtherCode::kTrusted);
  } catch (const BudgetExceeded&) {
    return known->second;
  }
  for (const SinkRecord& record : engine.records()) {
    known->second.push_back({record.instruction, is_widened_by_cast(record, engine.origins()),
                             !find_breaches(record, engine, how).empty()});
  }
  return known->second;
}

bool CallerCasts::settle(std::uint32_t root, const Defect& defect, const DefectOptions& how) {
  const Function& code = program_.functions.function(root);
  if (code.kind != FunctionKind::kFunction || !code.class_name.empty() || code.is_main) return false;
  const std::vector<std::uint32_t> callers = callers_of(root);
  if (callers.empty() || callers.size() > kMostCallers) return false;
  return std::all_of(callers.begin(), callers.end(), [&](std::uint32_t caller) {
    bool comes_there = false;
    for (const Arrived& each : arrived_from(caller, how)) {
      if (each.instruction != defect.record->instruction) continue;
      if (!each.is_cast || each.breaks) return false;
      comes_there = true;
    }
    return comes_there;
  });
}

}  // namespace dtype_guard::flow
