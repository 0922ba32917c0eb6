// One instruction: dispatch, and the instructions that concern dtypes and the thread's dtype state.
#include <algorithm>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/interpreter/engine.h"
#include "analyzer/flow/engine/known_values.h"
#include "analyzer/flow/engine/passed_tests.h"
#include "analyzer/flow/values/ranks.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;

bool is_part_of_none(const Instruction& instruction, const State& state) {
  const Alternative* whole =
      instruction.name == "subscript" ? argument(state, instruction, 0).single() : nullptr;
  return whole && whole->kind == Kind::kNone;
}
}  // namespace

bool Engine::transfer(Activation& activation, const Instruction& instruction, State& state) {
  const auto set = [&](Value result) {
    if (instruction.result) state.values.change(instruction.result) = std::move(result);
    return true;
  };
  switch (instruction.op) {
    case Op::kConst: {
      if (std::holds_alternative<Unknown>(instruction.constant)) {
        return set(Value::unknown(questions_.asked(activation, instruction, state)));
      }
      return set(constant(instruction.constant, effects_));
    }
    case Op::kParam: {
      const auto* position = std::get_if<std::int64_t>(&instruction.constant);
      const bool given =
          position && *position >= 0 && static_cast<std::size_t>(*position) < activation.arguments.size();
      if (!given) return set(Value::unknown(ids_.symbol(activation.context, &instruction)));
      const bool is_itself = activation.code.kind == FunctionKind::kLambda && *position == 0;
      if (!is_itself)
        escapes_.lose(activation, instruction, activation.arguments[static_cast<std::size_t>(*position)],
                      state);
      return set(activation.arguments[static_cast<std::size_t>(*position)]);
    }
    case Op::kCopy:
      return set(argument(state, instruction, 0));
    case Op::kPhi: {
      Value out;
      std::vector<const Value*> ways;
      for (const Argument& each : instruction.args) {
        out = join(out, state.values[each.value], symbols_);
        ways.push_back(&state.values[each.value]);
      }
      return set(out.is_bottom() ? Value::unknown() : of_several(out, ways));
    }
    case Op::kOperator:
      if (operators_.cannot_store(activation, instruction, state))
        return false;  // what follows is not reached
      if (root_.how.called_by_defaults && is_part_of_none(instruction, state))
        return false;  // a call that throws is none that leaves its arguments out
      return set(operation(activation, instruction, state));
    case Op::kDtypeOf:
      return set(casts_.dtype_of(activation, instruction, state));
    case Op::kOptions: {
      const Value* dtype = named(state, instruction, "dtype");
      if (!dtype && !instruction.args.empty()) dtype = &argument(state, instruction, 0);
      return set(dtype ? *dtype : Value(Alternative::of(Kind::kOptions)));
    }
    case Op::kCast:
      return set(casts_.cast(activation, instruction, state));
    case Op::kAlloc:
    case Op::kObject:
      return set(objects_.allocate(activation, instruction, state));
    case Op::kModule:
      return set(objects_.library_module(activation, instruction, state));
    case Op::kPack:
      for (std::size_t i = 0; i < instruction.args.size(); ++i)
        escapes_.escape(activation, instruction, argument(state, instruction, i), Escape::kKept, state);
      return set(objects_.pack(activation, instruction, state));
    case Op::kClosure: {
      const Value made = objects_.closure(activation, instruction, state);
      escapes_.lose(activation, instruction, made, state);
      return set(made);
    }
    case Op::kRegister:
      return set(registrations_.registration(activation, instruction, state));
    case Op::kRetype:
      conversions_.retype(activation, instruction, state);
      return true;
    case Op::kCall:
      return calls_.call_instruction(activation, instruction, state);
    case Op::kLoad: {
      memory_.list_elements(activation, state, instruction.place);
      const Value loaded = memory_.load(activation, instruction, state);
      escapes_.lose(activation, instruction, loaded, state);
      return set(loaded);
    }
    case Op::kStore: {
      memory_.list_elements(activation, state, instruction.place);
      const Target target = memory_.resolve(activation, state, instruction.place);
      // A reference to an element of a buffer is the buffer.
      const bool through = instruction.place.base && instruction.place.path.empty();
      if (through && target.locations.empty())
        objects_.write_into(activation, instruction, target.direct, argument(state, instruction, 0), state);
      if (!instruction.place.path.empty())
        escapes_.escape(activation, instruction, argument(state, instruction, 0), Escape::kKept, state);
      memory_.write(state, target,
                    without_length(marks_.stored(activation, instruction, argument(state, instruction, 0))));
      return true;
    }
    case Op::kWrite:
      objects_.write_elements(activation, instruction, state);
      return true;
    case Op::kAddress:
      return set(memory_.address(activation, instruction, state));
    case Op::kSetAutocast:
      dtypes_.set_autocast(instruction, state);
      return true;
    case Op::kSetDefaultDtype:
      dtypes_.set_default_dtype(instruction, state);
      return true;
    case Op::kSaveState:
      return set(dtypes_.save_state(state));
    case Op::kRestoreState:
      dtypes_.restore_state(instruction, state);
      return true;
    case Op::kDiscard:
      marks_.discard(activation, instruction, state);
      return true;
    case Op::kAssume: {
      const std::optional<bool> known = truth(argument(state, instruction, 0), state, ids_);
      if (instruction.args.empty()) return true;
      const ValueId fact = instruction.args[0].value;
      const Guard passed = known ? Guard{} : questions_.guard(activation, instruction, true, state);
      const bool holds = known ? *known : conditions_.refine(activation, state, fact, true);
      const bool passes = holds || conditions_.state_by_check(activation, state, fact, true);
      sinks_.record_check(activation, instruction, fact, true, !passes, state);
      if (!passes) return false;
      conditions_.keep_text(activation, state, fact, true);
      if (passed.symbols) add_guard(state.guards, passed);
      note_tests(activation, state, fact, true,
                 {activation.context, &instruction, &instruction, 0, activation.function, {}, 0, 0});
      return true;
    }
    case Op::kSink: {
      const Api* api = sinks_.contract_of(instruction.name);
      return set(api ? sinks_.sink(*api, activation, instruction, state)
                     : escapes_.unknown_call(activation, instruction, state));
    }
    case Op::kJump:
    case Op::kBranch:
    case Op::kReturn:
    case Op::kUnreachable:
      break;
  }
  return true;
}

}  // namespace dtype_guard::flow
