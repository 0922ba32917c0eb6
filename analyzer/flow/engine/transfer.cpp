// One instruction: dispatch, and the instructions that concern dtypes and the thread's dtype state.
#include <algorithm>

#include "analyzer/flow/engine/engine.h"
#include "analyzer/flow/values/ranks.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
}

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
      return set(constant(instruction.constant));
    }
    case Op::kParam: {
      const auto* position = std::get_if<std::int64_t>(&instruction.constant);
      const bool given =
          position && *position >= 0 && static_cast<std::size_t>(*position) < activation.arguments.size();
      if (!given) return set(Value::unknown(ids_.symbol(activation.context, &instruction)));
      const bool is_itself = activation.code.kind == FunctionKind::kLambda && *position == 0;
      if (!is_itself)
        lose(activation, instruction, activation.arguments[static_cast<std::size_t>(*position)], state);
      return set(activation.arguments[static_cast<std::size_t>(*position)]);
    }
    case Op::kCopy:
      return set(argument(state, instruction, 0));
    case Op::kPhi: {
      Value out;
      for (const Argument& each : instruction.args) {
        out = join(out, state.values[each.value], symbols_);
      }
      return set(out.is_bottom() ? Value::unknown() : out);
    }
    case Op::kOperator:
      if (cannot_store(activation, instruction, state)) return false;  // what follows is not reached
      return set(operation(activation, instruction, state));
    case Op::kDtypeOf:
      return set(dtype_of(activation, instruction, state));
    case Op::kOptions: {
      const Value* dtype = named(state, instruction, "dtype");
      if (!dtype && !instruction.args.empty()) dtype = &argument(state, instruction, 0);
      return set(dtype ? *dtype : Value(Alternative::of(Kind::kOptions)));
    }
    case Op::kCast:
      return set(cast(activation, instruction, state));
    case Op::kAlloc:
    case Op::kObject:
      return set(objects_.allocate(activation, instruction, state));
    case Op::kModule:
      return set(objects_.library_module(activation, instruction, state));
    case Op::kPack:
      for (std::size_t i = 0; i < instruction.args.size(); ++i)
        escape(activation, instruction, argument(state, instruction, i), Escape::kKept, state);
      return set(objects_.pack(activation, instruction, state));
    case Op::kClosure: {
      const Value made = objects_.closure(activation, instruction, state);
      lose(activation, instruction, made, state);
      return set(made);
    }
    case Op::kRegister:
      return set(registrations_.registration(activation, instruction, state));
    case Op::kRetype:
      conversions_.retype(activation, instruction, state);
      return true;
    case Op::kCall:
      return call_instruction(activation, instruction, state);
    case Op::kLoad: {
      const Value loaded = memory_.load(activation, instruction, state);
      lose(activation, instruction, loaded, state);
      return set(loaded);
    }
    case Op::kStore: {
      const Target target = memory_.resolve(activation, state, instruction.place);
      // A reference to an element of a buffer is the buffer.
      const bool through = instruction.place.base && instruction.place.path.empty();
      if (through && target.locations.empty())
        objects_.write_into(activation, instruction, target.direct, argument(state, instruction, 0), state);
      if (!instruction.place.path.empty())
        escape(activation, instruction, argument(state, instruction, 0), Escape::kKept, state);
      memory_.write(state, target,
                    without_length(stored(activation, instruction, argument(state, instruction, 0))));
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
      discard(activation, instruction, state);
      return true;
    case Op::kAssume: {
      const std::optional<bool> known = truth(argument(state, instruction, 0));
      if (instruction.args.empty()) return true;
      const ValueId fact = instruction.args[0].value;
      const Guard passed = known ? Guard{} : questions_.guard(activation, instruction, true, state);
      const bool holds = known ? *known : conditions_.refine(activation, state, fact, true);
      const bool passes = holds || conditions_.state_by_check(activation, state, fact, true);
      record_check(activation, instruction, fact, true, !passes, state);
      if (!passes) return false;
      if (passed.symbols) add_guard(state.guards, passed);
      note_tests(activation, state, fact, true,
                 {activation.context, &instruction, &instruction, 0, activation.function, {}, 0, 0});
      return true;
    }
    case Op::kSink:
      return set(sink(activation, instruction, state));
    case Op::kJump:
    case Op::kBranch:
    case Op::kReturn:
    case Op::kUnreachable:
      break;
  }
  return true;
}

Value Engine::constant(const Constant& constant) {
  if (const auto* dtype = std::get_if<Dtype>(&constant)) effects_.note_named(*dtype);
  struct Make {
    Value operator()(Unknown) const { return Value::unknown(); }
    Value operator()(None) const { return Value::none(); }
    Value operator()(bool value) const { return Value(Alternative::boolean(value)); }
    Value operator()(std::int64_t value) const { return Value(Alternative::integer(value)); }
    Value operator()(double) const { return Value(Alternative::real()); }
    Value operator()(const std::string& value) const { return Value(Alternative::text(value)); }
    Value operator()(Dtype value) const { return Value(Alternative::a_dtype(value)); }
  };
  return std::visit(Make{}, constant);
}

Value Engine::dtype_of(const Activation& activation, const Instruction& instruction, const State& state) {
  Value out;
  for (const Alternative& each : memory_.tensors(state, argument(state, instruction, 0))) {
    const bool known = each.kind == Kind::kTensor || each.kind == Kind::kNumber || each.kind == Kind::kDtype;
    Alternative dtype =
        each.kind == Kind::kOptions ? each : Alternative::a_dtype(known ? each.dtype : Dtype::kUndefined);
    dtype.symbols = each.symbols;
    dtype.assumed = each.assumed;
    dtype.told = each.kind == Kind::kDtype ? each.told : each.trail;
    dtype.uncertain = each.uncertain;
    dtype.context = activation.context;
    dtype.source = instruction.args.empty() ? 0 : instruction.args[0].value;
    out = join(out, Value(dtype), symbols_);
  }
  return out.is_bottom() ? Value(Alternative::a_dtype(Dtype::kUndefined)) : out;
}

namespace {
bool is_wider(Dtype a, Dtype b) { return is_floating(a) && is_floating(b) && bits(a) > bits(b); }

// What the language says a number is, where nothing else is known of it.
Alternative number_of_type(const Alternative& given, const Value* type) {
  const Alternative* stated = type ? type->single() : nullptr;
  const bool open = given.kind != Kind::kTensor ? given.kind != Kind::kNone && given.kind != Kind::kDtype
                                                : given.dtype == Dtype::kUndefined;
  if (!stated || stated->kind != Kind::kDtype || !open) return given;
  Alternative out = Alternative::tensor(stated->dtype, Rank::number());
  out.symbols = given.symbols;
  return out;
}

Origin conversion(std::uint32_t function, const Instruction& instruction, const Alternative& from,
                  Dtype dtype) {
  Origin out;
  out.kind = instruction.implicit && is_half(from.dtype) && is_wider(dtype, from.dtype)
                 ? Origin::Kind::kPromotion
                 : Origin::Kind::kCast;
  out.function = function;
  out.instruction = &instruction;
  out.op = from.rank.wrapped ? kConversion : "cast";
  out.before = from.dtype;
  out.after = dtype;
  return out;
}
}  // namespace

Value Engine::cast(const Activation& activation, const Instruction& instruction, const State& state) {
  std::vector<StatedDtype> dtypes;
  bool unchanged = false;
  for (const Alternative& each : memory_.tensors(state, argument(state, instruction, 1))) {
    unchanged = unchanged || each.kind == Kind::kOptions || each.kind == Kind::kString;
    const bool known = each.kind == Kind::kDtype || each.kind == Kind::kTensor;
    dtypes.push_back(
        {known ? each.dtype : Dtype::kUndefined, each.assumed, each.uncertain, each.symbols, each.told});
  }
  if (unchanged) return argument(state, instruction, 0);
  Value out;
  for (const Alternative& given : memory_.tensors(state, argument(state, instruction, 0))) {
    const Alternative from = number_of_type(given, named(state, instruction, "from"));
    for (const auto& [dtype, assumed, uncertain, symbols, told] : dtypes) {
      Alternative to = from;
      if (from.kind == Kind::kNone || from.kind == Kind::kDtype) {
        out = join(out, Value(from), symbols_);
        continue;
      }
      if (from.kind != Kind::kTensor) {
        const bool number = from.kind == Kind::kNumber || from.kind == Kind::kBool;
        to = Alternative::tensor(dtype, number ? Rank::number() : Rank{});
        to.symbols = 0;
        to.assumed = assumed;
        if (number && dtype != Dtype::kUndefined && !is_floating(dtype)) to = from;
      } else if (from.dtype != dtype || dtype == Dtype::kUndefined) {
        to.dtype = dtype;
        to.assumed = assumed;
        to.uncertain = uncertain || dtype == Dtype::kUndefined;  // it settles what was not known before
        StepId before = 0;
        const Origin* first = origins_.find(from.origin);
        if (first && first->widens_half() && is_wider(dtype, from.dtype)) {
          before = from.trail;  // half, float, double: the first of them widened it
        } else {
          to.origin = origins_.origin(conversion(activation.function, instruction, from, dtype));
        }
        to.trail = origins_.step(before, to.origin,
                                 {0, 0, activation.function, &instruction, "cast", from.dtype, dtype,
                                  instruction.implicit ? "implicit conversion"
                                  : from.rank.wrapped  ? "explicit conversion"
                                                       : "explicit cast"});
      } else {
        to.assumed = assumed;
      }
      to.symbols = symbols_.unite(to.symbols, symbols);
      out = join(out, Value(to), symbols_);
    }
  }
  return out.is_bottom() ? Value::unknown() : out;
}

}  // namespace dtype_guard::flow
