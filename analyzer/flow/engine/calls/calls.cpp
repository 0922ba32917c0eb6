// Calls: the callee is evaluated in the caller's state, so its effects on places, modules and the thread's
// dtype state are the caller's. What is not known may have done anything to what it was given by reference.
#include "analyzer/flow/engine/calls/calls.h"

#include <algorithm>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/calls/held_function.h"
#include "analyzer/flow/ir/registered_names.h"
#include "analyzer/flow/operators/registered_operators.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
}

// An object of unknown class may run anything.
std::vector<std::uint32_t> Calls::dispatch(const Instruction& instruction, const VirtualCall& call,
                                           const State& state) const {
  std::vector<std::uint32_t> out;
  for (const Alternative& each : argument(state, instruction, 0)) {
    const HeapObject* object = each.kind == Kind::kObject ? state.find(each.object) : nullptr;
    if (!object || object->type.empty()) return {};
    std::vector<std::uint32_t> found =
        program_.classes.inherited(object->type, call.method, instruction.args.size() - 1, root_.unit);
    // A class whose bases nobody noted has none that has its own.
    if (found.empty() && !index_.class_facts(object->type)) found = index_.find(call.key);
    if (found.size() != 1) return {};
    if (std::find(out.begin(), out.end(), found[0]) == out.end()) out.push_back(found[0]);
  }
  return out;
}

bool Calls::call_instruction(Activation& activation, const Instruction& instruction, State& state) {
  const std::optional<VirtualCall> virtually = virtual_call(instruction.name);
  std::vector<std::uint32_t> callees = virtually && !instruction.args.empty()
                                           ? dispatch(instruction, *virtually, state)
                                           : index_.find(instruction.name);
  if (is_registered_operator(instruction.name)) {
    const auto kernel = registered_kernel(index_, instruction.name, options_.device, state.autocast);
    if (kernel) callees = {*kernel};
  }
  Attribute attribute;
  const bool by_attribute = instruction.name.starts_with(kAttributeCall) && !instruction.args.empty();
  if (by_attribute) {
    attribute = this->attribute(activation, instruction, state);
    callees = attribute.unknown ? std::vector<std::uint32_t>() : attribute.callees;
  }
  if (instruction.name.empty()) {
    callees.clear();
    bool unknown = false;
    for (const Alternative& each : argument(state, instruction, 0)) {
      if (each.kind == Kind::kClosure) {
        callees.push_back(each.function);
      } else {
        unknown = true;
      }
    }
    if (unknown) callees.clear();
  }
  const auto set = [&](Value result) {
    if (instruction.result) state.values.change(instruction.result) = std::move(result);
  };
  const bool is_given = callees.empty() && by_attribute && !attribute.unknown;
  (callees.empty() && !is_given ? calls_.lost : calls_.followed).insert(&instruction);
  if (is_given) {
    set(attribute.given);
    return true;
  }
  if (callees.empty()) {
    const Value agreed = virtually && !instruction.args.empty()
                             ? given_by_all_overrides(activation, instruction, *virtually, state)
                             : Value();
    const Value unknown = escapes_.unknown_call(activation, instruction, state);
    // What a library module among the receivers gives, it gives whatever the others are.
    set(agreed.is_bottom() ? join(unknown, attribute.given, symbols_) : agreed);
    return true;
  }

  std::vector<Value> arguments;
  for (std::size_t i = 0; i < instruction.args.size(); ++i) {
    // A tensor that carries an origin leaves a step: this is where it goes into the callee.
    std::vector<Alternative> passed = argument(state, instruction, i).alternatives();
    // None has no method that could run.
    if (by_attribute && i == 0)
      std::erase_if(passed, [](const Alternative& each) { return each.kind == Kind::kNone; });
    for (Alternative& each : passed) {
      if (each.kind != Kind::kTensor || !each.origin) continue;
      each.trail = origins_.step(each.trail, each.origin,
                                 {0, 0, activation.function, &instruction, "call", each.dtype, each.dtype,
                                  "passed to '" + index_.function(callees.front()).name + "'"});
    }
    const Value& original = argument(state, instruction, i);
    const Value marked(std::move(passed));
    arguments.push_back(marked == original ? original : marked);
  }

  if (by_attribute) {
    if (const Value held = held_by_name(arguments[0], instruction, state, ids_); !held.is_bottom())
      arguments[0] = held;
  }
  const ContextId inner = ids_.context(activation.context, &instruction);
  std::optional<State> joined;
  Value result;
  for (std::size_t i = 0; i < callees.size(); ++i) {
    State branch = i + 1 == callees.size() ? std::move(state) : state;
    bool alive = true;
    const ContextId own = callees.size() == 1 ? inner : ids_.context(inner, &index_.function(callees[i]));
    // A lambda takes itself, a function that was found through a pointer does not.
    const FunctionKind kind = index_.function(callees[i]).kind;
    const bool plain = (instruction.name.empty() && kind != FunctionKind::kLambda) ||
                       (by_attribute && kind == FunctionKind::kFunction);
    const auto from = arguments.begin() + (plain ? 1 : 0);
    std::vector<Value> handed(from, arguments.end());
    const Function& callee = index_.function(callees[i]);
    handed = bound_.bound(callee, instruction, own, std::move(handed), branch);
    const bool is_guessed = give_from_setting(callee, own, handed, branch);
    Value value =
        evaluator_.call(callees[i], std::move(handed), branch, own, &activation, alive, &instruction);
    if (!alive) continue;
    if (is_guessed) value = as_if_unknown(value);
    for (std::size_t each = 0; each < arguments.size(); ++each)
      registrations_.take_over_changes_of(branch, argument(branch, instruction, each), arguments[each],
                                          activation);
    result = join(result, callees.size() == 1 ? value : weakened(value), symbols_);
    if (joined) {
      joined = join({&*joined, &branch}, symbols_, {activation.context});
    } else {
      joined = std::move(branch);
    }
  }
  if (!joined) return false;
  state = std::move(*joined);
  set(join(result, attribute.given, symbols_));
  return true;
}

namespace {
// Whether a tensor may be what the setting hands in.
enum class Handed : std::uint8_t { kInput, kUnknown, kNoInput };
Handed handed_as(const std::vector<Alternative>& all, Dtype input) {
  const auto has = [&](const auto& what) { return std::any_of(all.begin(), all.end(), what); };
  const bool is_unknown = has(
      [](const Alternative& each) { return each.kind != Kind::kNone && each.dtype == Dtype::kUndefined; });
  const bool is_certain =
      has([](const Alternative& each) { return each.dtype != Dtype::kUndefined && !each.uncertain; });
  const bool is_wider =
      has([&](const Alternative& each) { return is_floating(each.dtype) && bits(each.dtype) > bits(input); });
  if (is_wider || (is_unknown && is_certain)) return Handed::kNoInput;
  return is_unknown ? Handed::kUnknown : Handed::kInput;
}
}  // namespace

// What is called in its class or file only is no root, and says nothing of tensors that nobody knows. Where
// all that it is handed may be what the setting hands in, the unknown is that, as it was if this were a root;
// its callers' conditions hold all the same.
bool Calls::give_from_setting(const Function& callee, ContextId context, std::vector<Value>& arguments,
                              State& state) {
  const bool is_lambda = callee.kind == FunctionKind::kLambda;
  if (is_lambda || callee.external || callee.foreign) return false;
  const std::size_t first = arguments.size() - std::min(arguments.size(), callee.parameters.size());
  std::vector<std::size_t> unknown;
  for (std::size_t i = 0; i + first < arguments.size(); ++i) {
    const Parameter& parameter = callee.parameters[i];
    if (parameter.kind != ParameterKind::kTensor || !parameter.type.empty()) continue;
    const Handed handed = handed_as(memory_.tensors(state, arguments[i + first]), setting_.inputs);
    if (handed == Handed::kNoInput) return false;
    if (handed == Handed::kUnknown) unknown.push_back(i);
  }
  for (const std::size_t i : unknown)
    arguments[i + first] =
        inputs_.input(callee.parameters[i], context, static_cast<int>(i), Nature::kArgument, state);
  return !unknown.empty();
}

// What the setting decided of it is none of the caller's knowledge.
Value Calls::as_if_unknown(const Value& result) const {
  std::vector<Alternative> out = result.alternatives();
  for (Alternative& each : out) {
    const Origin* origin = origins_.find(each.origin);
    const bool stated = origin && origin->kind != Origin::Kind::kPromotion;
    each.uncertain = each.uncertain || (each.kind == Kind::kTensor && (each.assumed || !stated));
  }
  return Value(std::move(out));
}

}  // namespace dtype_guard::flow
