#include "analyzer/flow/queries/autocast_of_callers.h"

#include <algorithm>
#include <set>
#include <vector>

#include "analyzer/flow/program/consulted.h"
#include "rules/operators/library_names.h"

namespace dtype_guard::flow {
namespace {
constexpr std::size_t kMostCallers = 24;

bool turns_on(const Instruction& each, const FunctionInfo& info) {
  if (is_named(Named::kHost, each.name)) return false;
  return std::none_of(each.args.begin(), each.args.end(), [&](const Argument& given) {
    const Instruction* made = given.name == "on" ? info.definition(given.value) : nullptr;
    const bool* on = made && made->op == Op::kConst ? std::get_if<bool>(&made->constant) : nullptr;
    return given.name == "on" && !(on && *on);
  });
}

// Regions nest as they stand in the code: what was saved last is restored first.
bool is_in_region(const Instruction& call, std::uint32_t caller, const FunctionIndex& index) {
  std::vector<bool> on = {false};
  for (const Block& block : index.function(caller).blocks) {
    for (const Instruction& each : block.instructions) {
      if (&each == &call) return on.back();
      if (each.op == Op::kSaveState) on.push_back(on.back());
      if (each.op == Op::kRestoreState && on.size() > 1) on.pop_back();
      if (each.op == Op::kSetAutocast) on.back() = turns_on(each, index.info(caller));
    }
  }
  return false;
}

}  // namespace

bool is_called_under_autocast(std::uint32_t forward, const Program& program) {
  Consulted::note_flow();
  std::set<std::uint32_t> asked = {forward};
  std::vector<std::uint32_t> work = {forward};
  bool is_under_some = false;  // not only within itself
  while (!work.empty() && asked.size() <= kMostCallers) {
    const auto& calls = program.called_modules.calls_of(work.back());
    work.pop_back();
    if (calls.empty()) return false;  // nor is it called where that one is
    for (const auto& [caller, call] : calls) {
      if (program.functions.function(caller).class_name.empty()) return false;
      const bool is_on = is_in_region(*call, caller, program.functions);
      is_under_some = is_under_some || is_on;
      if (!is_on && asked.insert(caller).second) work.push_back(caller);
    }
  }
  return work.empty() && is_under_some;
}

}  // namespace dtype_guard::flow
