#include "analyzer/flow/engine/operations/casts.h"

#include <algorithm>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/operands.h"
#include "analyzer/flow/operators/widened.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;

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

// Of objects that are no tensors, config.dtype: what stands there, which leaves the others.
Value Casts::fields_called_dtype(Value& given, const State& state) const {
  const auto is_object = [](const Alternative& each) { return each.kind == Kind::kObject; };
  if (std::none_of(given.begin(), given.end(), is_object)) return {};
  const Key field = ids_.field("dtype");
  Value out, others;
  for (const Alternative& each : given) {
    const HeapObject* object = is_object(each) ? state.find(each.object) : nullptr;
    if (object && object->cells.find(field) != object->cells.end()) {
      out = join(out, memory_.read(state, Location{each.object, field, each.symbols}), symbols_);
    } else {
      others = join(others, Value(each), symbols_);
    }
  }
  given = others;
  return out;
}

Value Casts::dtype_of(const Activation& activation, const Instruction& instruction, const State& state) {
  Value given = argument(state, instruction, 0);
  Value out = fields_called_dtype(given, state);
  if (given.is_bottom() && !out.is_bottom()) return out;
  for (const Alternative& each : memory_.tensors(state, given)) {
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

// Whether the dtype is asked of the very value that is cast, which has not changed since.
bool Casts::is_own_dtype(const Activation& activation, const Instruction& instruction, const State& state) {
  const Instruction* asks =
      instruction.args.size() > 1 ? activation.info.definition(instruction.args[1].value) : nullptr;
  const Value& given = argument(state, instruction, 0);
  const bool is_asked_of_it =
      asks && asks->op == Op::kDtypeOf && argument(state, *asks, 0).same(given) && !given.is_bottom();
  const bool is_number = std::any_of(given.begin(), given.end(), [](const Alternative& each) {
    return each.kind == Kind::kNumber || each.kind == Kind::kBool || each.kind == Kind::kDtype;
  });
  return is_asked_of_it && !is_number &&
         dtype_of(activation, *asks, state) == argument(state, instruction, 1);
}

Value Casts::cast(const Activation& activation, const Instruction& instruction, const State& state) {
  Value out;
  if (is_own_dtype(activation, instruction, state)) {
    for (const Alternative& each : memory_.tensors(state, argument(state, instruction, 0)))
      out = join(out, Value(each), symbols_);
    return out;
  }
  std::vector<StatedDtype> dtypes;
  bool unchanged = false;
  for (const Alternative& each : memory_.tensors(state, argument(state, instruction, 1))) {
    unchanged = unchanged || each.kind == Kind::kOptions || each.kind == Kind::kString;
    const bool known = each.kind == Kind::kDtype || each.kind == Kind::kTensor;
    dtypes.push_back(
        {known ? each.dtype : Dtype::kUndefined, each.assumed, each.uncertain, each.symbols, each.told});
  }
  if (unchanged) return argument(state, instruction, 0);
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
        const bool was_open = from.uncertain || widens_unknown(origins_.find(from.origin));
        if (was_open && !uncertain) {  // whatever it was, it is that here
          to.uncertain = false;
          to.origin = origins_.origin(conversion(activation.function, instruction, from, dtype));
          to.trail = origins_.step(0, to.origin,
                                   {0, 0, activation.function, &instruction, "cast", from.dtype, dtype, ""});
        }
      }
      to.symbols = symbols_.unite(to.symbols, symbols);
      out = join(out, Value(to), symbols_);
    }
  }
  return out.is_bottom() ? Value::unknown() : out;
}

}  // namespace dtype_guard::flow
