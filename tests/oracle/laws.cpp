// Laws: changes of a program that may not change its findings, or only in one direction.
#include <algorithm>
#include <set>

#include "analyzer/flow/ir/text.h"
#include "tests/oracle/properties.h"
#include "tests/oracle/rewrites.h"

namespace dtype_guard::oracle {
namespace {
using flow::Op;
using Calls = std::set<int>;  // lines of the calls that a definite finding reaches

Calls broken_calls(const Module& module, const flow::AnalysisOptions& options) {
  Calls out;
  for (const Finding& each : flow::analyse(module, options).findings) {
    if (each.certainty != Certainty::kDefinite) continue;
    for (const Sink& sink : each.sinks) out.insert(sink.location.line);
  }
  return out;
}

// Those that stand in the function.
Calls within(const Function& function, const Calls& calls) {
  Calls out;
  for (const flow::Block& block : function.blocks) {
    for (const Instruction& each : block.instructions) {
      if (calls.contains(each.range.line)) out.insert(each.range.line);
    }
  }
  return out;
}

std::string text(const Calls& calls) {
  std::string out;
  for (const int line : calls) out += " " + std::to_string(line);
  return out.empty() ? " none" : out;
}

// Whether a branch, a check or another function may hang on a value: then what was not reached may be. What
// is stored may be what any load gives.
bool may_decide(const Function& function, flow::ValueId value) {
  std::set<flow::ValueId> hang_on_it = {value};
  bool is_stored = false;
  for (bool changed = true; changed;) {
    changed = false;
    for (const flow::Block& block : function.blocks) {
      for (const Instruction& each : block.instructions) {
        const bool uses = hang_on_it.contains(each.place.base) ||
                          std::any_of(each.args.begin(), each.args.end(), [&](const flow::Argument& one) {
                            return hang_on_it.contains(one.value);
                          });
        if (!uses && !(each.op == Op::kLoad && is_stored)) continue;
        constexpr Op kEffects[] = {Op::kBranch,      Op::kAssume,          Op::kCall,  Op::kClosure,
                                   Op::kSetAutocast, Op::kSetDefaultDtype, Op::kRetype};
        if (std::find(std::begin(kEffects), std::end(kEffects), each.op) != std::end(kEffects)) return true;
        constexpr Op kKeep[] = {Op::kStore, Op::kPack, Op::kRegister, Op::kWrite, Op::kAddress};
        const bool keeps = std::find(std::begin(kKeep), std::end(kKeep), each.op) != std::end(kKeep);
        changed = changed || (keeps && !is_stored) || (each.result && !hang_on_it.contains(each.result));
        is_stored = is_stored || keeps;
        if (each.result) hang_on_it.insert(each.result);
      }
    }
  }
  return false;
}

// Without it dictionaries, lists or modules are not what they were.
bool changes_things(const Instruction& each) {
  constexpr const char* kNames[] = {"dict_pop", "dict_update", "store_element"};
  // Of a module programs say the dtype by position, of a tensor by name.
  const bool converts = each.name == "to" && each.args.size() == 2 && each.args[1].name.empty();
  return each.op == Op::kOperator &&
         (converts || std::any_of(std::begin(kNames), std::end(kNames),
                                  [&](const char* name) { return each.name == name; }));
}

// Whether the call is of a function that is there, and comes back whatever it is handed. What unseen code
// does is taken to leave the dtypes of the thread as they are: a function that sets them is no such code.
bool calls_what_returns(const Module& module, const Instruction& call) {
  const auto is_called = [&](const Function& each) { return each.key == call.name; };
  const auto callee = std::find_if(module.functions.begin(), module.functions.end(), is_called);
  if (call.op != Op::kCall || callee == module.functions.end()) return false;
  constexpr Op kOthers[] = {Op::kAssume,      Op::kBranch,          Op::kUnreachable,
                            Op::kSetAutocast, Op::kSetDefaultDtype, Op::kRestoreState};
  const auto is_other = [&](const Instruction& each) {
    return std::find(std::begin(kOthers), std::end(kOthers), each.op) != std::end(kOthers);
  };
  return std::none_of(callee->blocks.begin(), callee->blocks.end(), [&](const flow::Block& block) {
    return std::any_of(block.instructions.begin(), block.instructions.end(), is_other);
  });
}

// The result of one operator is anything, or an input; or a function that is called is not there.
Module with_unknown(Module module, Random& random) {
  Function& root = module.functions.back();
  std::vector<Instruction*> all;
  for (flow::Block& block : root.blocks) {
    for (Instruction& each : block.instructions) {
      const bool may_be_any = !changes_things(each) && (each.op == Op::kOperator || each.op == Op::kParam ||
                                                        calls_what_returns(module, each));
      if (may_be_any && each.result && !may_decide(root, each.result)) all.push_back(&each);
    }
  }
  if (all.empty()) return module;
  Instruction& chosen = *random.of(all);
  if (chosen.op == Op::kCall) {
    chosen.name = "any_tensor";
    return module;
  }
  chosen.op = Op::kConst;
  chosen.name.clear();
  chosen.args.clear();
  chosen.constant = flow::Unknown{};
  return module;
}

// Of a number, or what is no value at all, a cast to its dtype makes a tensor.
bool takes_tensors_alone(const Module& program, const Passed& passed) {
  const auto is_tensor = [&](const Function& function, flow::ValueId value) {
    for (const flow::Block& block : function.blocks) {
      for (const Instruction& each : block.instructions) {
        if (each.result == value)
          return Passed::has(passed.instructions, each) && !Passed::has(passed.no_tensors, each);
      }
    }
    return false;
  };
  for (const Function& function : program.functions) {
    for (const flow::Block& block : function.blocks) {
      for (const Instruction& each : block.instructions) {
        if (each.op != Op::kSink) continue;
        for (const flow::Argument& given : each.args) {
          if (!is_tensor(function, given.value)) return false;
        }
      }
    }
  }
  return true;
}

struct Law {
  const char* name;
  Module (*rewrite)(Module module, Random& random);
};
constexpr Law kRewrites[] = {{"renaming", renamed},
                             {"dead code", with_dead_code},
                             {"another order of blocks", with_blocks_moved},
                             {"branches on the opposite", with_branches_turned},
                             {"casts to the own dtype", with_own_dtypes},
                             {"outlining", outlined},
                             {"inlining", inlined},
                             {"an unrolled loop", unrolled}};
}  // namespace

void check_law(std::size_t law, std::uint64_t seed, const Module& program, const Subject& subject,
               Tally& tally, Violations& out) {
  static_assert(kLaws == std::size(kRewrites) + 1);
  const flow::AnalysisOptions& options = subject.options;
  Random random(seed);
  if (law < std::size(kRewrites)) {
    const auto& [name, rewrite] = kRewrites[law];
    if (rewrite == with_own_dtypes && !takes_tensors_alone(program, subject.runs.passed)) return;
    const Module changed = rewrite(program, random);
    if (flow::print(changed) == flow::print(program)) return;  // nothing there to change
    ++tally.asked[std::string("law: ") + name];
    const Calls before = broken_calls(program, options), after = broken_calls(changed, options);
    if (before != after)
      out.push_back({"laws", std::string(name) + ": breaks" + text(before) + ", then" + text(after)});
    return;
  }
  ++tally.asked["law: an unknown value"];
  const Calls before = broken_calls(program, options);
  // A function that nothing is seen to call any more is a root.
  const Calls unknown =
      within(program.functions.back(), broken_calls(with_unknown(program, random), options));
  if (!std::includes(before.begin(), before.end(), unknown.begin(), unknown.end()))
    out.push_back({"laws", "an unknown value: breaks" + text(before) + ", then" + text(unknown)});
}

}  // namespace dtype_guard::oracle
