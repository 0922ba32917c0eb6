#include "tests/oracle/runs.h"

#include <algorithm>
#include <functional>

namespace dtype_guard::oracle {

namespace {
bool is_refused(const Run& run) {
  const Instruction* at = run.stopped_at;
  return run.end == End::kThrew && at && (at->op == flow::Op::kAssume || at->op == flow::Op::kBranch);
}

// Inputs are what the setting hands in, but for those of which checks say what they are: with fewer that
// differ some check refuses the run. Where a check says float32, others may be that too.
bool is_handed_otherwise(const Run& run, const Choices& choices,
                         const std::function<Run(Choices&)>& run_with) {
  const std::vector<Run::Differing>& all = run.differing;
  if (all.empty()) return false;
  if (is_refused(run)) return true;
  const std::uint32_t every = (1U << all.size()) - 1;
  std::vector<bool> passes(every + 1);
  for (std::uint32_t kept = 0; kept <= every; ++kept) {
    std::vector<std::string> as_usual;
    bool some_float = false, others_float = true;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool is_kept = (kept >> i & 1U) != 0;
      if (!is_kept) as_usual.push_back(all[i].choice);
      (is_kept ? some_float : others_float) =
          is_kept ? some_float || is_floating(all[i].dtype) : others_float && is_floating(all[i].dtype);
    }
    Choices others = choices.but_for(as_usual);
    passes[kept] = kept == every || !is_refused(run_with(others));
    bool is_least = passes[kept];
    for (std::uint32_t fewer = 0; fewer < kept; ++fewer)
      is_least = is_least && !((fewer & kept) == fewer && passes[fewer]);
    if (is_least && (kept == every || (some_float && others_float))) return false;
  }
  return true;
}

// Of a root that makes its object half before it returns, the program has made it half before: also what
// throws on the way was run on a half one.
void leave_out_unfinished(Runs& all) {
  const bool some_return = std::any_of(all.runs.begin(), all.runs.end(),
                                       [](const Run& each) { return each.end == End::kReturned; });
  if (!all.makes_own_half || some_return) return;
  all.assumed_away += all.runs.size();
  all.assumptions["a root throws before it makes its object half, as it does wherever it returns"] +=
      all.runs.size();
  all.runs.clear();
  all.passed = {};
}
}  // namespace

Runs all_runs(const Module& module, const Function& root, const ContractSet& contracts, const World& world,
              std::size_t most) {
  Runs out;
  Choices choices;
  bool is_by_chance = false;
  const PreparedModule prepared(module, contracts, world.torch_version, world.device);
  const auto run_with = [&](Choices& others) { return Machine(module, prepared, world, others).run(root); };
  // A run begins where the last one decided what it decides otherwise.
  Machine::Checkpoints checkpoints;
  const auto next_run = [&](Passed& passed) {
    if (!checkpoints.empty()) {
      if (!checkpoints.back().decides_once || !choices.changes_to_last(checkpoints.back().decided.at))
        return Machine::go_on_from(checkpoints.back(), passed);
      Machine::Checkpoint last = std::move(checkpoints.back());
      checkpoints.pop_back();
      return Machine::go_on_from(std::move(last), passed);
    }
    Machine machine(module, prepared, world, choices, is_by_chance ? nullptr : &checkpoints);
    Run done = machine.run(root);
    passed = machine.passed();
    return done;
  };
  const auto run = [&] {
    Passed passed;
    Run done = next_run(passed);
    if (done.end != End::kAssumedAway && is_handed_otherwise(done, choices, run_with)) {
      done.end = End::kAssumedAway;
      done.why = "an input is not what the setting hands in, and no check says so";
      for (const auto& each : done.observations) done.passed_by.insert(each->sink);
    }
    if (done.end == End::kAssumedAway) {
      ++out.assumed_away;
      ++out.assumptions[std::string(done.why)];
      out.makes_own_half = out.makes_own_half || done.makes_own_half;
      if (done.stopped_at) out.assumed_away_at.insert(done.stopped_at);
      out.assumed_away_at.insert(done.passed_by.begin(), done.passed_by.end());
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
    while (!is_last && !checkpoints.empty() && checkpoints.back().decided.at > choices.changed())
      checkpoints.pop_back();
  }
  checkpoints.clear();
  is_by_chance = true;
  // Those that there was room for differ in their last decisions alone.
  const std::size_t some = is_last ? 0 : most / 3;
  for (std::size_t i = 0; i < some; ++i) {
    choices.shuffle(most);
    run();
  }
  leave_out_unfinished(out);
  out.are_all = is_last && out.open == 0 && !out.runs.empty();
  const Passed& passed = out.passed;
  out.arrivals.insert(passed.arrivals.begin(), passed.arrivals.end());
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
