// Lambdas that escape to unseen code: a kernel that is registered, the body of a parallel loop, a thread's
// work, an entry of a table of functions. What they do they do some day, so each is run where it gets out of
// sight: with what it captured as that is there, and with parameters as the setting hands them in.
#include "analyzer/flow/engine/calls/escaping.h"

#include <algorithm>

#include "analyzer/flow/engine/arguments.h"
#include "rules/operators/library_names.h"
#include "rules/operators/operators.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;

// It runs its body, and comes back.
bool is_parallel_loop(const Instruction& call) { return is_named(Named::kRunsBodyHereToo, call.name); }

bool is_of_standard_library(const Instruction& instruction) {
  return instruction.op == Op::kOperator && instruction.name.starts_with(name_of(Named::kStandardLibrary));
}

bool is_tensor(const Parameter& parameter) {
  return parameter.kind == ParameterKind::kTensor || parameter.kind == ParameterKind::kOptionalTensor ||
         parameter.kind == ParameterKind::kTensorList;
}

// Whether a variable, and all that is below it, is what it was.
bool is_left_alone(Memory& memory, const Location& place, const State& before, const State& after) {
  const Value was = memory.read(before, place);
  if (memory.read(after, place) != was) return false;
  std::vector<Alternative> work(was.begin(), was.end());
  std::vector<HeapId> seen;
  const auto look_at = [&](const Value& value) { work.insert(work.end(), value.begin(), value.end()); };
  while (!work.empty()) {
    const Alternative each = work.back();
    work.pop_back();
    const bool is_object = each.kind == Kind::kObject || each.kind == Kind::kHandle ||
                           each.kind == Kind::kReference || each.kind == Kind::kClosure;
    const HeapObject* object = is_object ? before.find(each.object) : nullptr;
    if (!object || std::find(seen.begin(), seen.end(), each.object) != seen.end()) continue;
    seen.push_back(each.object);
    const HeapObject* now = after.find(each.object);
    if (now != object && !(now && *now == *object)) return false;
    for (const auto& [key, cell] : object->cells) look_at(cell);
    for (const Registration& one : object->registered) look_at(one.value);
    look_at(object->rest);
  }
  return true;
}

}  // namespace

bool Escapes::may_be_handed_inputs(const Activation& activation, const Instruction& instruction,
                                   const Function& lambda, Escape how, const State& state) {
  if (root_.is_closed) return false;  // a whole program gives its own
  const bool runs_it = is_of_standard_library(instruction);
  const bool is_kept = how != Escape::kHanded ||
                       (runs_it && is_named(Named::kKeepsArgument, qualified_name(instruction.name)));
  // What is seen to be called may run it, by a name that is not known to be its.
  if (instruction.op == Op::kCall && program_.calls_of_objects.is_called_with_casts(lambda.parameters.size()))
    return false;
  if (is_kept)
    return !program_.calls_of_objects.is_called_with_casts(lambda.parameters.size()) &&
           !index_.effects(activation.function).names_dtypes;
  if (runs_it) return false;
  // It may be run on what is handed over with it.
  for (std::size_t i = 0; i < instruction.args.size(); ++i) {
    const Value& beside = argument(state, instruction, i);
    if (beside.begin() != beside.end() && beside.begin()->kind == Kind::kDtype) return false;
    for (const Alternative& each : memory_.tensors(state, beside)) {
      const bool fits = each.kind != Kind::kTensor || each.rank.wrapped || each.dtype == Dtype::kUndefined ||
                        each.dtype == setting_.inputs || !is_floating(each.dtype);
      if (!fits) return false;
    }
  }
  return true;
}

// Variables that it captures by reference and perhaps changes are not known from there on; an argument is for
// the call to see to.
void Escapes::escape(const Activation& activation, const Instruction& instruction, const Value& value,
                     Escape how, State& state) {
  for (const Alternative& each : value) {
    const HeapObject* object = each.kind == Kind::kClosure ? state.find(each.object) : nullptr;
    if (!object) continue;
    std::vector<Alternative> variables;
    for (const auto& [key, cell] : object->cells) {
      std::copy_if(cell.begin(), cell.end(), std::back_inserter(variables),
                   [](const Alternative& one) { return one.kind == Kind::kReference; });
    }
    // What variables hold when it is run later is not known.
    if (!variables.empty() && how == Escape::kKept) continue;
    const std::optional<State> after = after_escape(activation, instruction, each, how, state);
    if (how != Escape::kLost) continue;
    for (const Alternative& one : variables) {
      if (!after || !is_left_alone(memory_, {one.object, one.key}, state, *after))
        memory_.havoc(state, Value(one));
    }
  }
}

// Nothing where it is not run, or does not come back.
std::optional<State> Escapes::after_escape(const Activation& activation, const Instruction& instruction,
                                           const Alternative& closure, Escape how, const State& state) {
  const Function& lambda = index_.function(closure.function);
  if (lambda.kind != FunctionKind::kLambda || lambda.foreign || effects_.steps() > options_.step_budget / 2)
    return {};
  const bool captures = !state.find(closure.object)->cells.empty();
  // What an object that is still being made will hold one day is not known.
  if (root_.objects_in_making > 0 || (captures && makes_object(activation))) return {};
  const bool has_tensors = std::any_of(lambda.parameters.begin(), lambda.parameters.end(), is_tensor);
  const bool from_setting = !has_tensors || may_be_handed_inputs(activation, instruction, lambda, how, state);
  State branch = state;
  // Autocast is each thread's own. Who runs a loop's body is one of those that do.
  if (!has_tensors && !is_parallel_loop(instruction))
    branch.autocast.may_be_off = branch.autocast.may_be_off || branch.autocast.may_be_on;
  const ContextId inner = ids_.context(ids_.context(activation.context, &instruction), &lambda);
  std::vector<Value> arguments = {Value(closure)};
  for (std::size_t i = 0; i < lambda.parameters.size(); ++i) {
    const int position = static_cast<int>(i);
    arguments.push_back(from_setting || !is_tensor(lambda.parameters[i])
                            ? inputs_.input(lambda.parameters[i], inner, position, Nature::kArgument, branch)
                            : Value::unknown(ids_.symbol(inner, &lambda, position)));
  }
  const Speculation run(effects_, kAnotherRun);
  bool alive = true;
  evaluator_.call(closure.function, std::move(arguments), branch, inner, &activation, alive);
  return alive ? std::optional(std::move(branch)) : std::nullopt;
}

// A value that no instruction uses went into something that the front end does not follow.
void Escapes::lose(const Activation& activation, const Instruction& instruction, const Value& value,
                   State& state) {
  if (activation.info.is_used(instruction.result)) return;
  escape(activation, instruction, value, Escape::kLost, state);
}

// A method with its object, which is no more handed out than by a call of that method.
bool Escapes::is_bound_method(const Alternative& value, const State& state) {
  if (value.kind != Kind::kClosure || !index_.function(value.function).foreign) return false;
  const HeapObject* held = state.find(value.object);
  return held && held->cells.size() == 1 && held->cells.find(ids_.field("self")) != held->cells.end();
}

Value Escapes::unknown_call(const Activation& activation, const Instruction& instruction, State& state) {
  SymbolSetId symbols = questions_.asked(activation, instruction, state);
  if (instruction.op != Op::kOperator) sinks_.record_handed_on(activation, instruction, state);
  // What a loop's body does not change is as it was.
  const bool runs_here = is_parallel_loop(instruction);
  const Escape how = runs_here ? Escape::kLost : Escape::kHanded;
  for (std::size_t i = 0; i < instruction.args.size(); ++i)
    escape(activation, instruction, argument(state, instruction, i), how, state);
  for (std::size_t i = 0; i < instruction.args.size(); ++i) {
    const Value each = argument(state, instruction, i);
    symbols = symbols_.unite(symbols, symbols_of(each, symbols_));
    // An operator that the table does not know leaves objects alone; a function may do anything to them.
    // A function of the standard library works on the containers and lambdas that it is given.
    const bool is_operator = instruction.op == Op::kOperator && !is_of_standard_library(instruction);
    const Alternative* one = each.single();
    const bool open = one && (one->kind == Kind::kReference || one->kind == Kind::kClosure);
    if (one && is_bound_method(*one, state)) continue;
    if ((is_operator && !open) || (runs_here && one && one->kind == Kind::kClosure)) continue;
    memory_.havoc(state, each);
  }
  return Value::unknown(symbols);
}

}  // namespace dtype_guard::flow
