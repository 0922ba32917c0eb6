#include "tests/oracle/runs.h"

#include <algorithm>

namespace dtype_guard::oracle {

Runs all_runs(const Module& module, const Function& root, const ContractSet& contracts, const World& world,
              std::size_t most) {
  Runs out;
  Choices choices;
  const auto run = [&] {
    Passed passed;
    Run done = Machine(module, contracts, world, choices, passed).run(root);
    if (done.end == End::kAssumedAway) {
      ++out.assumed_away;
      ++out.assumptions[done.why];
      if (done.stopped_at) out.assumed_away_at.insert(done.stopped_at);
      return;
    }
    out.open += done.end == End::kOpen || done.end == End::kTooLong;
    out.passed.add(passed);
    out.runs.push_back(std::move(done));
  };
  bool is_last = false;
  while (!is_last && out.runs.size() + out.assumed_away < most) {
    run();
    is_last = !choices.next();
  }
  // Those that there was room for differ in their last decisions alone.
  const std::size_t some = is_last ? 0 : most / 3;
  for (std::size_t i = 0; i < some; ++i) {
    choices.shuffle(most);
    run();
  }
  out.are_all = is_last && out.open == 0 && !out.runs.empty();
  const Passed& passed = out.passed;
  for (const auto& [key, each] : passed.arrivals) out.arrivals.insert(each);
  out.all_throw =
      std::all_of(out.runs.begin(), out.runs.end(), [](const Run& each) { return each.end == End::kThrew; });
  for (const Run& each : out.runs) {
    const Instruction* at = each.stopped_at;
    if (!at) continue;
    const bool passes = at->op == flow::Op::kBranch
                            ? Passed::has(passed.arms[0], *at) && Passed::has(passed.arms[1], *at)
                            : Passed::has(passed.instructions, *at);
    if (!passes) out.dead_ends.insert(at);
  }
  return out;
}

namespace {
Dtype dtype_of(const Observation& seen, std::string_view role) {
  const auto found = std::find_if(seen.operands.begin(), seen.operands.end(),
                                  [&](const Arrived& each) { return each.role == role; });
  return found == seen.operands.end() || found->is_none ? Dtype::kUndefined : found->tensor.dtype;
}
bool casts_itself(const Api& api, const Observation& seen, const World& world) {
  return seen.under_autocast &&
         api.autocast_at(world.device, world.torch_version) == AutocastBehaviour::kRecasts;
}
}  // namespace

bool is_guilty(const Api& api, const Observation& seen, std::string_view role, const World& world) {
  const Dtype mine = dtype_of(seen, role);
  const Operand* own = api.find(role);
  if (mine == Dtype::kUndefined || !own || casts_itself(api, seen, world)) return false;
  const DtypeSet accepted = api.accepted(role);
  if (!accepted.empty() && !accepted.contains(mine)) return true;
  const Dtype like = dtype_of(seen, own->same_as);
  return !own->takes(mine, like) && (accepted.empty() || accepted.contains(like));
}

bool breaks(const Api& api, const Observation& seen, std::string_view role, const World& world) {
  const Dtype mine = dtype_of(seen, role);
  const Operand* own = api.find(role);
  if (mine == Dtype::kUndefined || !own || casts_itself(api, seen, world)) return false;
  const DtypeSet accepted = api.accepted(role);
  if (!own->takes(mine, dtype_of(seen, own->same_as))) return true;
  if (!accepted.empty() && !accepted.contains(mine)) return true;  // the other one is wrong likewise
  return std::any_of(api.operands.begin(), api.operands.end(), [&](const Operand& other) {
    const Dtype theirs = dtype_of(seen, other.role);
    if (&other == own || theirs == Dtype::kUndefined || other.same_as.empty()) return false;
    if (other.same_as == role) return !other.takes(theirs, mine);
    return other.same_as == own->same_as && other.accepts.empty() && own->accepts.empty() && theirs != mine;
  });
}

}  // namespace dtype_guard::oracle
