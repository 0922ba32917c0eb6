// Calls: the callee is evaluated in the caller's state, so its effects on places, modules and the thread's
// dtype state are the caller's. What is not known may have done anything to what it was given by reference.
#include "analyzer/flow/engine/calls/calls.h"

#include <algorithm>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/calls/held_function.h"
#include "analyzer/flow/engine/calls/list_methods.h"
#include "analyzer/flow/engine/held_values.h"
#include "analyzer/flow/ir/registered_names.h"
#include "analyzer/flow/operators/registered_operators.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;

// What some of several receivers give is there where it is one of them.
Value where(const Value& given, const std::vector<Alternative>& receivers, SymbolSets& symbols) {
  SymbolSetId conditions = receivers.front().symbols;
  for (const Alternative& one : receivers) conditions = symbols.either(conditions, one.symbols);
  std::vector<Alternative> out = left_under(given, conditions, symbols).alternatives();
  for (Alternative& each : out) each.symbols = symbols.unite(each.symbols, conditions);
  return Value(std::move(out));
}

// Whether it is known on what it depends that these are called: without, nothing tells it from the others.
bool are_chosen(const std::vector<Alternative>& receivers) {
  return std::all_of(receivers.begin(), receivers.end(),
                     [](const Alternative& each) { return each.symbols != 0 && !each.uncertain; });
}
}  // namespace

// An object of unknown class may run anything.
std::vector<std::uint32_t> Calls::dispatch(const Instruction& instruction, const VirtualCall& call,
                                           const State& state, Receivers& receivers) const {
  std::vector<std::uint32_t> out;
  for (const Alternative& each : argument(state, instruction, 0)) {
    const HeapObject* object = each.kind == Kind::kObject ? state.find(each.object) : nullptr;
    if (!object || object->type.empty()) return {};
    std::vector<std::uint32_t> found =
        program_.classes.inherited(object->type, call.method, instruction.args.size() - 1, root_.unit);
    // A class without noted bases has none that has its own.
    if (found.empty() && !index_.class_facts(object->type)) found = index_.find(call.key);
    if (found.size() != 1) return {};
    if (std::find(out.begin(), out.end(), found[0]) == out.end()) out.push_back(found[0]);
    receivers[found[0]].push_back(each);
  }
  return out;
}

Calls::Callees Calls::callees_of(const Activation& activation, const Instruction& instruction, State& state) {
  if (instruction.name.starts_with(kAttributeCall) && !instruction.args.empty())
    return callees_by_attribute(activation, instruction, state);
  Callees out;
  if (!instruction.args.empty()) out.virtually = virtual_call(instruction.name);
  out.functions = out.virtually ? dispatch(instruction, *out.virtually, state, out.receivers)
                                : index_.find(instruction.name);
  if (is_registered_operator(instruction.name)) {
    const auto kernel = registered_kernel(index_, instruction.name, options_.device, state.autocast);
    if (kernel) out.functions = {*kernel};
  }
  if (instruction.name.empty()) {
    out.functions.clear();
    bool unknown = false;
    for (const Alternative& each : argument(state, instruction, 0)) {
      if (each.kind == Kind::kClosure) {
        out.functions.push_back(each.function);
      } else {
        unknown = true;
      }
    }
    if (unknown) out.functions.clear();
  }
  return out;
}

// The arguments as they go in. A tensor that carries an origin leaves a step: this is where it does.
std::vector<Value> Calls::arguments_of(const Activation& activation, const Instruction& instruction,
                                       const Callees& callees, const State& state) {
  std::vector<Value> arguments;
  for (std::size_t i = 0; i < instruction.args.size(); ++i) {
    std::vector<Alternative> passed = argument(state, instruction, i).alternatives();
    // None has no method that could run.
    if (callees.by_attribute && i == 0)
      std::erase_if(passed, [](const Alternative& each) { return each.kind == Kind::kNone; });
    for (Alternative& each : passed) {
      if (each.kind != Kind::kTensor || !each.origin) continue;
      each.trail = origins_.step(each.trail, each.origin,
                                 {0, 0, activation.function, &instruction, "call", each.dtype, each.dtype,
                                  "passed to '" + index_.function(callees.functions.front()).name + "'"});
    }
    const Value& original = argument(state, instruction, i);
    const Value marked(std::move(passed));
    arguments.push_back(marked == original ? original : marked);
  }
  if (callees.by_attribute) {
    if (const Value held = held_by_name(arguments[0], instruction, state, ids_); !held.is_bottom())
      arguments[0] = held;
  }
  return arguments;
}

// What one of them gives, with what it leaves behind in `state`; nothing where it does not return.
std::optional<Value> Calls::result_of(std::uint32_t function, const Activation& activation,
                                      const Instruction& instruction, const Callees& callees,
                                      const std::vector<Value>& arguments, State& state) {
  const ContextId inner = ids_.context(activation.context, &instruction);
  const Function& callee = index_.function(function);
  const ContextId own = callees.functions.size() == 1 ? inner : ids_.context(inner, &callee);
  // A lambda takes itself, a function that was found through a pointer does not.
  const bool plain = (instruction.name.empty() && callee.kind != FunctionKind::kLambda) ||
                     (callees.by_attribute && callee.kind == FunctionKind::kFunction);
  std::vector<Value> handed(arguments.begin() + (plain ? 1 : 0), arguments.end());
  // A method runs for the objects whose class has it, and for no other.
  const auto own_receivers = callees.receivers.find(function);
  const bool has_others = !callees.given.is_bottom() || callees.functions.size() > 1;
  const bool is_some = !plain && has_others && own_receivers != callees.receivers.end();
  if (is_some) handed.front() = Value(own_receivers->second);
  handed = bound_.bound(callee, instruction, own, std::move(handed), state);
  const bool is_guessed = give_from_setting(callee, own, handed, state);
  bool alive = true;
  Value value = evaluator_.call(function, std::move(handed), state, own, &activation, alive, &instruction);
  if (!alive) return std::nullopt;
  if (is_guessed) value = as_if_unknown(value);
  if (is_some && callees.functions.size() == 1) value = where(value, own_receivers->second, symbols_);
  for (std::size_t each = 0; each < arguments.size(); ++each) {
    registrations_.take_over_changes_of(state, argument(state, instruction, each), arguments[each],
                                        activation);
  }
  return value;
}

bool Calls::call_instruction(Activation& activation, const Instruction& instruction, State& state) {
  const auto set = [&](Value result) {
    if (instruction.result) state.values.change(instruction.result) = std::move(result);
    return true;
  };
  if (instruction.name.starts_with(kAttributeCall)) {
    if (auto of_list = list_method(instruction, state, memory_, registrations_, symbols_, ids_))
      return set(*std::move(of_list));
  }
  const Callees callees = callees_of(activation, instruction, state);
  const Value& given = callees.given;
  const bool is_lost = callees.functions.empty() && !callees.is_given();
  (is_lost ? calls_.lost : calls_.followed).insert(&instruction);
  if (callees.is_given()) return set(given);
  if (is_lost) {
    const Value agreed = callees.virtually
                             ? given_by_all_overrides(activation, instruction, *callees.virtually, state)
                             : Value();
    const Value unknown = escapes_.unknown_call(activation, instruction, state);
    // What a library module among the receivers gives, it gives whatever the others are.
    return set(agreed.is_bottom() ? join(unknown, given, symbols_) : agreed);
  }

  const std::vector<Value> arguments = arguments_of(activation, instruction, callees, state);
  std::optional<State> joined;
  Value result;
  // What decides which function it is may have decided what these are handed.
  const auto guard = [&](State& branch, const std::vector<Alternative>& called) {
    SymbolSetId symbols = called.front().symbols;
    for (const Alternative& each : called) symbols = symbols_.either(symbols, each.symbols);
    if (symbols) add_guard(branch.guards, {activation.context, activation.block, true, symbols});
  };
  const std::size_t count = callees.functions.size() + (callees.or_unknown ? 1 : 0);
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_last = i + 1 == count;
    State branch = is_last ? std::move(state) : state;
    const bool is_unknown = i == callees.functions.size();
    const auto called = is_unknown ? callees.receivers.end() : callees.receivers.find(callees.functions[i]);
    if (count > 1 && called != callees.receivers.end()) guard(branch, called->second);
    const auto value =
        is_unknown ? std::optional(escapes_.unknown_call(activation, instruction, branch))
                   : result_of(callees.functions[i], activation, instruction, callees, arguments, branch);
    if (!value) continue;
    const bool is_one_of = count > 1;
    const bool is_chosen = is_one_of && called != callees.receivers.end() && are_chosen(called->second);
    const Value by_choice = is_chosen ? where(*value, called->second, symbols_) : *value;
    result = join(result, is_one_of && !is_chosen ? weakened(*value) : by_choice, symbols_);
    if (joined) {
      joined = join({&*joined, &branch}, symbols_, {activation.context});
    } else {
      joined = std::move(branch);
    }
  }
  if (!joined) return false;
  state = std::move(*joined);
  return set(join(result, given, symbols_));
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

// What is called in its class or file only is no root, and says nothing of unknown tensors. Where
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
