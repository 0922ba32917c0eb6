// Definite: a definite finding that breaks a contract is broken in some run at that call; where it has an
// origin, the value descends from that instruction, and every run in which the origin supplies the operand
// breaks. Precision: a call that breaks in every run is found.
#include <algorithm>
#include <optional>

#include "tests/oracle/properties.h"

namespace dtype_guard::oracle {
namespace {
struct Call {
  const Run* run;
  const Observation* seen;
  const Arrived* operand;
};

const Instruction* instruction_at(const Module& module, const SourceLocation& where) {
  for (const Function& function : module.functions) {
    for (const flow::Block& block : function.blocks) {
      for (const Instruction& each : block.instructions) {
        if (each.range.line == where.line && each.range.column == where.column) return &each;
      }
    }
  }
  return nullptr;
}

bool is_called_twice(const Module& module, const Instruction* inside) {
  const auto holds = [&](const Function& function) {
    return std::any_of(function.blocks.begin(), function.blocks.end(), [&](const flow::Block& block) {
      return !block.instructions.empty() && &block.instructions.front() <= inside &&
             inside <= &block.instructions.back();
    });
  };
  const auto function = std::find_if(module.functions.begin(), module.functions.end(), holds);
  std::size_t calls = 0;
  for (const Function& each : module.functions) {
    for (const flow::Block& block : each.blocks) {
      for (const Instruction& one : block.instructions) {
        const bool names_it = one.op == flow::Op::kCall || one.op == flow::Op::kClosure;
        calls += names_it && function != module.functions.end() && one.name == function->key;
      }
    }
  }
  return calls > 1;
}

std::vector<Call> calls_of(const Subject& subject, const Instruction* sink, const std::string& role) {
  std::vector<Call> out;
  for (const Run& run : subject.runs.runs) {
    for (const auto& seen : run.observations) {
      if (seen->sink != sink) continue;
      for (const Arrived& each : seen->operands) {
        if (each.role == role) out.push_back({&run, seen.get(), &each});
      }
    }
  }
  return out;
}

// Slow: half data that was promoted to a dtype that has no fast kernel there.
bool is_slow(const Api& api, const Arrived& arrived, const World& world) {
  const auto fast = api.fast.find(world.device);
  return fast != api.fast.end() && !arrived.is_none && arrived.tensor.is_promoted &&
         !fast->second.contains(arrived.tensor.dtype);
}
// Misdescribed: floating data that is taken for data of another floating dtype.
bool is_misdescribed(const Arrived& arrived) {
  const Tensor& seen = arrived.tensor;
  return is_floating(seen.data) && is_floating(seen.dtype) && seen.data != seen.dtype;
}
bool says(const Finding& finding, const std::string& rule) {
  const auto& others = finding.also_rules;
  return finding.rule == rule || std::find(others.begin(), others.end(), rule) != others.end();
}

std::string place(const Sink& sink, const World& world) {
  return "line " + std::to_string(sink.location.line) + " under " + world.name + ": " + sink.role + " of " +
         sink.api;
}

// An operator that refuses its operands has no contract: some run has to end there.
void check_refusal(const Subject& subject, const Finding& finding, const Sink& sink, Violations& out) {
  const Instruction* refuses = instruction_at(subject.module, sink.location);
  const auto& runs = subject.runs.runs;
  const bool some = std::any_of(runs.begin(), runs.end(), [&](const Run& each) {
    return each.end == End::kThrew && each.stopped_at == refuses;
  });
  if (!some && subject.runs.are_all)
    out.push_back({"definite", place(sink, subject.world) + " (" + finding.rule +
                                   "): refuses its operands in no run: " + finding.message});
}

void check_sink(const Subject& subject, const Finding& finding, const Sink& sink, Tally& tally,
                Violations& out) {
  const Api* contract = contracts().named(sink.api, subject.world.torch_version, subject.world.device);
  if (!contract) return check_refusal(subject, finding, sink, out);
  const Api& api = *contract;
  const Instruction* const at = instruction_at(subject.module, sink.location);
  const std::vector<Call> calls = calls_of(subject, at, sink.role);
  const std::string slow = "silent-attention-fallback", misdescribed = "dlpack-dtype-mismatch";
  const auto bad = [&](const Call& call) {
    if (says(finding, slow) && is_slow(api, *call.operand, subject.world)) return true;
    if (says(finding, misdescribed) && is_misdescribed(*call.operand)) return true;
    return finding.rule != slow && finding.rule != misdescribed &&
           breaks(api, *call.seen, sink.role, subject.world);
  };
  const auto say = [&](const std::string& what) {
    out.push_back({"definite",
                   place(sink, subject.world) + " (" + finding.rule + "): " + what + ": " + finding.message});
  };
  // Conditions that exclude each other by what they say of numbers lead to code that is not run.
  if (calls.empty() && subject.runs.are_all) {
    ++tally.unreached;
    return;
  }
  const bool some = std::any_of(calls.begin(), calls.end(), bad);
  const auto mine = std::find_if(finding.operands.begin(), finding.operands.end(),
                                 [&](const FindingOperand& each) { return each.role == sink.role; });
  const Instruction* origin = nullptr;  // of this operand, or of one that it goes with
  for (const FindingOperand& each : finding.operands) {
    const bool is_mine = each.role == sink.role;
    if (each.origin && (is_mine || !origin))
      origin = instruction_at(subject.module, finding.path.at(*each.origin).location);
  }
  if (!some && origin && subject.runs.are_all && !Passed::has(subject.runs.passed.instructions, *origin)) {
    ++tally.unreached;
    return;
  }
  // Those that come there otherwise than is assumed may be the ones in which it breaks, and so may those in
  // which the call throws for what a descriptor describes.
  const bool throws = std::any_of(subject.runs.runs.begin(), subject.runs.runs.end(), [&](const Run& each) {
    return each.end == End::kThrew && each.stopped_at == at;
  });
  const bool are_all = subject.runs.are_all && !throws && !subject.runs.assumed_away_at.contains(at);
  tally.unspoken += !some && subject.runs.are_all && !are_all;
  if (!some && are_all) return say("breaks in no run");
  if (mine == finding.operands.end() || finding.sinks.size() != 1) return;
  if (!mine->origin) {
    const DtypeSet accepted = api.accepted(sink.role);
    const bool either = mine->dtypes.size() > 1 && !accepted.empty() &&
                        std::all_of(mine->dtypes.begin(), mine->dtypes.end(), [&](const std::string& each) {
                          return !accepted.contains(parse_dtype(each).value_or(Dtype::kUndefined));
                        });
    if (either && !std::all_of(calls.begin(), calls.end(), bad)) say("either dtype, and it holds in a run");
    return;
  }
  const std::string& dtype = finding.path.back().after;
  if (!origin) return say("its origin is no instruction");
  // Of a function that several calls reach, one call may break and the next hold. Where that is the sink's,
  // the next of the same run.
  const bool is_shared = is_called_twice(subject.module, origin);
  const bool is_sink_shared = is_called_twice(subject.module, at);
  const auto breaks_in_that_run = [&](const Call& call) {
    return std::any_of(calls.begin(), calls.end(),
                       [&](const Call& other) { return other.run == call.run && bad(other); });
  };
  bool descends = false;
  for (const Call& each : calls) {
    descends = descends || (bad(each) && each.operand->tensor.descent.test(line_of(*origin)));
    const bool supplies =
        each.operand->tensor.supply.test(line_of(*origin)) && name(each.operand->tensor.dtype) == dtype;
    if (supplies && !is_shared && !bad(each) && !(is_sink_shared && breaks_in_that_run(each)))
      return say("its origin supplies the operand, and it holds in a run");
  }
  if (some && !descends && are_all) say("does not descend from its origin");
}

// A call that is refused whichever way the program takes, by dtypes that are not merely assumed.
void count_found(const Subject& subject, const std::vector<Finding>& findings, bool must_be_precise,
                 Tally& tally, Violations& out) {
  struct Met {
    bool always = true, promoted = false;
  };
  std::map<std::pair<const Instruction*, std::string>, Met> met;
  for (const Run& run : subject.runs.runs) {
    for (const auto& one : run.observations) {
      const Observation& seen = *one;
      const Api& api = *contracts().named(seen.sink->name, subject.world.torch_version, subject.world.device);
      for (const Arrived& each : seen.operands) {
        Met& here = met[{seen.sink, each.role}];
        const bool evident =
            !api.accepted(each.role).contains(each.tensor.dtype) && is_floating(each.tensor.dtype);
        const bool is_broken = !each.is_none && evident && breaks(api, seen, each.role, subject.world);
        here.always = here.always && is_broken;
        here.promoted = here.promoted || (is_broken && each.tensor.is_promoted);
      }
    }
  }
  for (const auto& [where, here] : met) {
    if (!here.always && !here.promoted) continue;
    const auto [sink, role] = where;
    const bool found =
        std::any_of(findings.begin(), findings.end(), [&, line = sink->range.line](const Finding& each) {
          return std::any_of(each.sinks.begin(), each.sinks.end(),
                             [&](const Sink& one) { return one.location.line == line; });
        });
    Share& share = (here.always ? tally.definite : tally.sometimes)[sink->name];
    ++share.of;
    share.found += found;
    if (found || !must_be_precise || !here.always) continue;
    out.push_back({"precision", "line " + std::to_string(sink->range.line) + " under " + subject.world.name +
                                    ": " + role + " always breaks, and is not found"});
    return;
  }
}
Violations check_findings(const Subject& subject, const std::vector<Finding>& findings, Tally& tally) {
  Violations out;
  for (const Finding& each : findings) {
    if (each.certainty != Certainty::kDefinite) continue;
    ++tally.findings;
    if (!subject.runs.dead_ends.empty() || subject.runs.all_throw) {
      ++tally.contradicted;
      continue;
    }
    for (const Sink& sink : each.sinks) check_sink(subject, each, sink, tally, out);
  }
  return out;
}
}  // namespace

// A call that casts its operands itself whenever a run comes to it is no finding, not even a possible one.
void check_possible(const Subject& subject, Violations& out) {
  flow::AnalysisOptions options = subject.options;
  options.strict = true;
  for (const Finding& finding : flow::analyse(subject.module, options).findings) {
    for (const Sink& sink : finding.sinks) {
      const Api* api = contracts().named(sink.api, subject.world.torch_version, subject.world.device);
      const bool recasts = api && api->autocast_at(subject.world.device, subject.world.torch_version) ==
                                      AutocastBehaviour::kRecasts;
      const Instruction* at = instruction_at(subject.module, sink.location);
      const std::vector<Call> calls = calls_of(subject, at, sink.role);
      const bool always = !calls.empty() && std::all_of(calls.begin(), calls.end(), [](const Call& each) {
        return each.seen->under_autocast;
      });
      if (recasts && always && subject.runs.are_all && !subject.runs.assumed_away_at.contains(at))
        out.push_back({"possible",
                       place(sink, subject.world) + ": casts its operands in all runs: " + finding.message});
    }
  }
}

void check_definite(const Subject& subject, bool must_be_precise, Tally& tally, Violations& out) {
  const flow::AnalysisResult result = flow::analyse(subject.module, subject.options);
  Violations wrong = check_findings(subject, result.findings, tally);
  // What stands only while no run takes a way is said of dead code.
  if (!wrong.empty() && subject.runs.are_all) {
    const Module taken = without_dead_arms(subject.module, subject.runs.passed);
    Tally again;
    Violations left = check_findings(subject, flow::analyse(taken, subject.options).findings, again);
    if (left.size() < wrong.size()) tally.unreached += wrong.size() - left.size();
    wrong = std::move(left);
  }
  out.insert(out.end(), wrong.begin(), wrong.end());
  if (subject.runs.are_all && subject.runs.assumed_away == 0 && subject.options.settings_named_by_user)
    count_found(subject, result.findings, must_be_precise, tally, out);
}

}  // namespace dtype_guard::oracle
