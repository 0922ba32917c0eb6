// One instruction after another, and where the runs that begin alike go on.
#include <utility>

#include "tests/oracle/interpreter/machine.h"

namespace dtype_guard::oracle {
namespace {
using flow::Op;
using Kind = Value::Kind;
constexpr int kMostSteps = 4000;
constexpr int kMostCalls = 24;
}  // namespace

Run Machine::run(const Function& root) {
  Frame frame;
  try {
    const bool itself = root.kind == flow::FunctionKind::kMethod;
    std::vector<Value> given(root.parameters.size() + itself);
    if (itself) given[0] = instance_of(root.class_name);
    frame = enter(root, std::move(given));
  } catch (const Stop& stop) {
    return ended(stop);
  }
  return finish(frame, nullptr);
}

Run Machine::go_on_from(Checkpoint checkpoint, Passed& passed) {
  Machine& machine = checkpoint.machine;
  machine.choices_.return_to(checkpoint.decided);
  Run out = machine.finish(checkpoint.frame, &checkpoint.instruction);
  passed = std::move(machine.passed_);
  return out;
}

Run Machine::finish(Frame& frame, const std::size_t* kept_at) {
  try {
    go_on(frame, kept_at, true);
    if (has_ended_) return ended({End::kThrew, {}});
    for (const Value& each : kept_) run_some_day(each);
  } catch (const Stop& stop) {
    return ended(stop);
  }
  return ended({End::kReturned, {}});
}

Run Machine::ended(const Stop& stop) {
  run_.end = stop.end;
  run_.why = stop.why;
  if (stop.end == End::kThrew || stop.end == End::kAssumedAway) run_.stopped_at = running_;
  // It was run on, so that it is known where it comes to.
  if (!violated_.empty()) {
    run_.end = End::kAssumedAway;
    run_.why = violated_;
  }
  return std::move(run_);
}

Machine::Frame Machine::enter(const Function& code, std::vector<Value> arguments) {
  if (++depth_ > kMostCalls) throw Stop{End::kTooLong, "calls"};
  Frame frame;
  frame.code = &code;
  frame.prepared = &prepared_.of(module_, code);
  Object variables;
  variables.kind = Object::Kind::kFrame;
  frame.variables = make(std::move(variables));
  frame.arguments = std::move(arguments);
  frame.values.reserve(frame.prepared->results);
  frame.made.reserve(frame.prepared->results);
  return frame;
}

Value Machine::call(const Function& code, std::vector<Value> arguments) {
  Frame frame = enter(code, std::move(arguments));
  return go_on(frame, nullptr, false);
}

// What decides something, as far as it is known: what a call decides shows when one was made.
bool Machine::decides(const Frame& frame, const Prepared& prepared) const {
  const Instruction& each = *prepared.instruction;
  switch (each.op) {
    case Op::kParam:
      return frame.arguments.at(static_cast<std::size_t>(std::get<std::int64_t>(each.constant)))
          .is(Kind::kNothing);
    case Op::kConst:
      return std::holds_alternative<flow::Unknown>(each.constant);
    case Op::kOperator:
      return prepared.what == What::kSize || prepared.what == What::kChance || prepared.has_decided;
    case Op::kAlloc:
      return true;
    default:
      return prepared.has_decided;
  }
}

bool Machine::decides_once(const Frame& frame, const Prepared& prepared) {
  const Instruction& each = *prepared.instruction;
  if (each.op == Op::kOperator) return prepared.what != What::kOther;
  if (each.op != Op::kParam) return each.op == Op::kConst || each.op == Op::kAlloc;
  const auto position = static_cast<std::size_t>(std::get<std::int64_t>(each.constant));
  const bool itself = frame.code->kind == flow::FunctionKind::kMethod;
  return position >= itself &&
         frame.code->parameters.at(position - itself).kind != flow::ParameterKind::kOptionalTensor;
}

// From the beginning, or from an instruction of the block on, which was kept. Before one of the root that
// decides something all is kept, so that the runs which decide otherwise begin there.
Value Machine::go_on(Frame& frame, const std::size_t* kept_at, bool is_root) {
  const bool keeps = is_root && checkpoints_;
  std::size_t first = kept_at ? *kept_at : 0;
  for (bool is_kept = kept_at != nullptr;;) {
    const std::vector<Prepared>& block = frame.prepared->blocks.at(frame.block);
    for (std::size_t i = std::exchange(first, 0); i < block.size(); ++i) {
      const Prepared& one = block[i];
      const Instruction& each = *one.instruction;
      const bool keeps_here = keeps && !std::exchange(is_kept, false) && decides(frame, one);
      if (keeps_here) checkpoints_->push_back({*this, frame, i, choices_.mark(), decides_once(frame, one)});
      if (++steps_ > kMostSteps) throw Stop{End::kTooLong, "steps"};
      running_ = &each;
      if (each.op == Op::kUnreachable) running_ = frame.branch;
      const bool is_refused = each.op == Op::kUnreachable ||
                              (is_root && each.op == Op::kAssume && !truth(argument(frame, each, 0)));
      if (is_refused && !is_root) throw Stop{End::kThrew, "unreachable"};
      if (is_refused) {
        has_ended_ = true;  // by no exception: that is how most runs end
        return {};
      }
      if (each.op == Op::kReturn) {
        --depth_;
        return each.args.empty() ? Value() : argument(frame, each, 0);
      }
      if (each.op == Op::kJump || each.op == Op::kBranch) {
        const bool to_first = each.op == Op::kJump || truth(argument(frame, each, 0));
        if (each.op == Op::kBranch) {
          frame.branch = &each;
          Passed::note(passed_.arms[to_first ? 0 : 1], each);
        }
        frame.block = each.targets.at(to_first ? 0 : 1);
        break;
      }
      const std::size_t decided = choices_.decided();
      step(frame, one);
      Passed::note(passed_.instructions, each);
      one.has_decided = one.has_decided || choices_.decided() != decided;
      if (keeps_here && !choices_.may_change_since(decided)) checkpoints_->pop_back();
    }
  }
}

}  // namespace dtype_guard::oracle
