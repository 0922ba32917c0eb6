#include "analyzer/flow/caller_casts.h"

#include <algorithm>
#include <utility>

#include "analyzer/flow/program/consulted.h"

namespace dtype_guard::flow {
namespace {
constexpr std::size_t kMostCallers = 4;

// Empty where one of its alternatives was not widened by a cast.
std::set<std::uint32_t> functions_that_cast(const SinkOperand& arrived, const Origins& origins) {
  std::set<std::uint32_t> out;
  for (const Alternative& each : arrived.alternatives) {
    const Origin* origin = origins.find(each.origin);
    if (!origin || origin->kind != Origin::Kind::kCast || !origin->widens_half()) return {};
    out.insert(origin->function);
  }
  return out;
}
}  // namespace

// A program's own main hands it what a demonstration has.
std::vector<std::uint32_t> CallerCasts::callers_of(std::uint32_t root) const {
  std::vector<std::uint32_t> out;
  for (const std::uint32_t id : program_.callers.of(root)) {
    if (id != root && !program_.functions.function(id).is_main) out.push_back(id);
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
    Arrived& now = known->second.emplace_back();
    now.instruction = record.instruction;
    now.breaks = !find_breaches(record, engine, how).empty();
    for (const SinkOperand& each : record.operands) {
      std::set<std::uint32_t> functions = functions_that_cast(each, engine.origins());
      if (!functions.empty()) now.cast_in.push_back(std::move(functions));
    }
  }
  return known->second;
}

bool CallerCasts::settle(std::uint32_t root, const Defect& defect, const DefectOptions& how) {
  const Function& code = program_.functions.function(root);
  if (code.kind != FunctionKind::kFunction || !code.class_name.empty() || code.is_main) return false;
  const std::vector<std::uint32_t> callers = callers_of(root);
  if (callers.empty() || callers.size() > kMostCallers) return false;
  Consulted::note_flow();
  return std::all_of(callers.begin(), callers.end(), [&](std::uint32_t caller) {
    bool comes_there = false;
    for (const Arrived& each : arrived_from(caller, how)) {
      if (each.instruction != defect.record->instruction) continue;
      // What it casts itself is not what callers hand over.
      const bool is_handed =
          std::any_of(each.cast_in.begin(), each.cast_in.end(),
                      [&](const std::set<std::uint32_t>& functions) { return !functions.contains(root); });
      if (!is_handed || each.breaks) return false;
      comes_there = true;
    }
    return comes_there;
  });
}

}  // namespace dtype_guard::flow
