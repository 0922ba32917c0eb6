// What the rules want to know beyond dtypes: steps that a value passed through and that mean something to
// one of them, and the checks of a dtype that were passed on the way.
#include "analyzer/flow/engine/operations/marks.h"

#include <algorithm>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/held_values.h"
#include "rules/operators/operators.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;

// What the instruction casts its first argument for: a cast, or an operator such as `to` or `half`.
bool is_cast(const Instruction& instruction) {
  if (instruction.args.empty()) return false;
  if (instruction.op == Op::kCast) return true;
  const Operator* op = instruction.op == Op::kOperator ? find_operator(instruction.name) : nullptr;
  return op && op->result == ResultRule::kCast && !op->in_place;
}
}  // namespace

// What holds the tensor that was to be cast still holds it uncast; every such place remembers.
void Marks::discard(const Activation& activation, const Instruction& instruction, State& state) {
  if (instruction.args.empty()) return;
  const Instruction* cast = activation.info.definition(instruction.args[0].value);
  if (!cast || !is_cast(*cast)) return;
  const std::vector<Alternative> results = memory_.tensors(state, argument(state, instruction, 0));
  if (results.empty() || !is_known_tensor(results.front())) return;
  const Dtype wanted = results.front().dtype;
  const bool agree = std::all_of(results.begin(), results.end(),
                                 [&](const Alternative& each) { return each.dtype == wanted; });
  if (!agree) return;
  const Value given = shared_contents(state, value(state, cast->args[0].value));
  std::vector<Alternative> marked = given.alternatives();
  for (Alternative& each : marked) {
    if (!is_known_tensor(each) || each.dtype == wanted) continue;
    Step step{0, 0, activation.function, cast, "to", each.dtype, each.dtype, "this result is not used"};
    step.kind = Step::Kind::kDiscardedCast;
    step.other = wanted;
    each.trail = origins_.step(each.trail, each.origin, std::move(step));
  }
  replace_everywhere(state, given, Value(std::move(marked)));
}

// A tensor that a module's constructor keeps without registering it, and a dtype that is written into a
// descriptor.
Value Marks::stored(const Activation& activation, const Instruction& instruction, const Value& given) {
  const Place& place = instruction.place;
  const bool is_field = !place.path.empty() && place.path.back().kind == Place::Step::Kind::kField;
  if (!is_field) return given;
  const Function& code = activation.code;
  const bool own_member = code.of_module && code.kind == FunctionKind::kConstructor && place.base &&
                          place.path.size() == 1 && !activation.arguments.empty() &&
                          activation.info.definition(place.base) &&
                          activation.info.definition(place.base)->op == Op::kParam;
  const bool describes = place.path.back().field == "dtype";
  if (!own_member && !describes) return given;
  bool changed = false;
  std::vector<Alternative> marked = given.alternatives();
  for (Alternative& each : marked) {
    const bool tensor = is_known_tensor(each) && is_floating(each.dtype) && !each.rank.wrapped;
    const bool dtype = each.kind == Kind::kDtype && each.dtype != Dtype::kUndefined && !each.trail;
    if (!(own_member && tensor) && !(describes && dtype)) continue;
    Step step{0, 0, activation.function, &instruction, "store", each.dtype, each.dtype, ""};
    step.kind = tensor ? Step::Kind::kPlainMember : Step::Kind::kDescribed;
    step.note = tensor ? "kept in the plain member '" + place.path.back().field + "'" : "described as this";
    each.trail = origins_.step(each.trail, each.origin, std::move(step));
    changed = true;
  }
  return changed ? Value(std::move(marked)) : given;
}

namespace {
// Memory of which nothing is known but where it is: malloc's, a workspace, a void pointer that was handed in.
bool is_untyped(const State& state, const Alternative& each) {
  if (each.kind == Kind::kUnknown) return true;
  const HeapObject* memory = each.kind == Kind::kHandle ? state.find(each.object) : nullptr;
  const auto cell = memory ? memory->cells.find(HeapObject::kContents) : Cells::const_iterator();
  return memory && memory->kind == HeapObject::Kind::kBuffer && cell != memory->cells.end() &&
         cell->second.single() && cell->second.single()->kind == Kind::kTensor &&
         cell->second.single()->dtype == Dtype::kUndefined;
}
}  // namespace

// q.data_ptr<T>() says what q holds; a cast of q.data_ptr() says what it is taken for. One of untyped memory
// makes it a buffer of that type: each cast its own, for parts of a workspace are of several types.
Value Marks::typed_pointer(const Activation& activation, const Instruction& instruction, State& state) {
  const Value* named_dtype = named(state, instruction, "dtype");
  const Alternative* stated = named_dtype ? named_dtype->single() : nullptr;
  if (!stated || stated->kind != Kind::kDtype) return argument(state, instruction, 0);
  const Value given = argument(state, instruction, 0);
  const bool plain = std::all_of(given.begin(), given.end(),
                                 [](const Alternative& each) { return each.kind == Kind::kTensor; });
  const bool checked = instruction.name != "pointer_cast";  // data_ptr<T>() throws for another dtype
  const auto untyped = [&](const Alternative& each) { return is_untyped(state, each); };
  if (!checked && stated->dtype != Dtype::kUndefined && std::all_of(given.begin(), given.end(), untyped)) {
    const Value contents(Alternative::tensor(stated->dtype, Rank::at_least(1)));
    const HeapId id = ids_.object(activation.context, &instruction);
    return memory_.shared_tensor(id, HeapObject::Kind::kBuffer, contents, state, true);
  }
  if (!checked && !plain) return given;  // memory keeps its identity
  Value out;
  for (const Alternative& each : memory_.tensors(state, given)) {
    const Origin* origin = each.kind == Kind::kTensor ? origins_.find(each.origin) : nullptr;
    const bool promoted = origin && origin->kind == Origin::Kind::kPromotion;
    Alternative seen = Alternative::tensor(stated->dtype, Rank::at_least(1));
    seen.symbols = each.symbols;
    if (each.kind == Kind::kNone) {
      seen = each;
    } else if (each.kind == Kind::kTensor && each.dtype == stated->dtype) {
      seen = each;
      seen.assumed = false;
    } else if (!checked) {
      seen = memory_.described(each, seen, activation.function, &instruction);
    } else if (each.kind == Kind::kTensor && each.dtype != Dtype::kUndefined && (!each.assumed || promoted)) {
      seen = each;
    }
    out = join(out, Value(seen), symbols_);
  }
  return out.is_bottom() ? Value::unknown() : out;
}

}  // namespace dtype_guard::flow
