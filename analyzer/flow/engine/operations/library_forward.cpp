// forward() of library modules: an operator on the input and the module's parameters, and Sequential, which
// hands what one of its modules gives to the next.
#include "analyzer/flow/engine/operations/library_forward.h"

#include <algorithm>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/operators/layers.h"
#include "analyzer/flow/operators/operator_rank.h"
#include "rules/operators/library_names.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
constexpr int kMaxNestedModules = 8;

// Elementwise modules keep their input's rank; of the others it is known at most that there is a dimension.
Rank rank_of_forward(const Operator& op, const ModuleType& type, const std::vector<Alternative>& input) {
  if (op.rank == RankRule::kAtLeastOne) return Rank::at_least(1);
  const bool of_input = !type.arguments.empty() && is_first_input(type.arguments.front());
  const bool same = op.rank == RankRule::kLikeFirst && of_input && !input.empty();
  Rank out = same && input.front().kind == Kind::kTensor ? input.front().rank : Rank{};
  for (const Alternative& each : input) out = join(out, each.kind == Kind::kTensor ? each.rank : Rank{});
  return same ? out : Rank{};
}

bool takes_one_input(std::string_view type, const ModuleType* known) {
  if (type == kSequential) return true;
  return known && std::all_of(known->arguments.begin(), known->arguments.end(), [](const std::string& each) {
           return !is_input(each) || is_first_input(each);
         });
}
}  // namespace

std::optional<Value> LibraryModules::library_forward(const Activation& activation,
                                                     const Instruction& instruction, State& state) {
  std::vector<Value> given;
  for (std::size_t i = 0; i < instruction.args.size(); ++i) given.push_back(argument(state, instruction, i));
  if (const ModuleType* type = find_module_type(instruction.name)) {
    if (const Api* api = sinks_.contract_of(type->contract))
      sinks_.record_module(*api, activation, instruction, state);
    return module_forward(activation, instruction, *type, given, activation.context, state);
  }
  const bool holds =
      instruction.name.starts_with(kSequential) || instruction.name.starts_with(name_of(Named::kAnyModule));
  if (!holds || given.size() != 2) return std::nullopt;
  return forward_through(activation, instruction, given[0], given[1],
                         ids_.context(activation.context, &instruction), state, 0);
}

// Those that may be handed one input. What else they take has a value by default.
std::vector<std::uint32_t> LibraryModules::forwards_of(const std::string& type) const {
  const auto declared = [&](std::size_t parameters) {
    return program_.classes.inherited(type, name_of(Named::kForward), parameters, root_.unit);
  };
  std::vector<std::uint32_t> out = declared(1);
  if (!out.empty()) return out;
  out = declared(FunctionIndex::kAnyNumber);
  std::erase_if(out, [&](std::uint32_t each) {
    const std::vector<Parameter>& all = index_.function(each).parameters;
    return all.empty() || !std::all_of(all.begin() + 1, all.end(), [](const Parameter& one) {
             return one.rest != Rest::kNone || one.default_value;
           });
  });
  return out;
}

// Nothing where the module, or one in it, is not known.
std::optional<Value> LibraryModules::forward_through(const Activation& activation,
                                                     const Instruction& instruction, const Value& module,
                                                     const Value& input, ContextId inner, State& state,
                                                     int depth) {
  const Alternative* one = module.single();
  const HeapObject* object = one && one->kind == Kind::kObject ? state.find(one->object) : nullptr;
  if (!object || depth > kMaxNestedModules) return std::nullopt;
  if (object->type == kSequential) {
    std::vector<Value> elements;
    for (const auto& [key, cell] : object->cells) {
      if (key.kind == Key::Kind::kIndex) elements.push_back(cell);
    }
    const Value more = object->rest;
    if (elements.empty() && more.is_bottom()) return std::nullopt;
    std::optional<Value> passed = input;
    inner = ids_.context(inner, &index_);
    for (const Value& each : elements) {
      // A context of its own for each: one class may be there twice.
      inner = ids_.context(inner, &instruction);
      passed = forward_through(activation, instruction, each, *passed, inner, state, depth + 1);
      if (!passed) return std::nullopt;
    }
    if (more.is_bottom()) return passed;
    return forward_through_any(activation, instruction, more, *passed, inner, state, depth);
  }
  if (const ModuleType* type = find_module_type(object->type))
    return module_forward(activation, instruction, *type, {module, input}, inner, state);
  const std::vector<std::uint32_t> callees = forwards_of(object->type);
  if (callees.size() != 1) return std::nullopt;
  bool alive = true;
  std::vector<Value> given =
      bound_.bound_by_position(index_.function(callees.front()), inner, {module, input}, state);
  Value result = evaluator_.call(callees.front(), std::move(given), state, inner, &activation, alive);
  return alive ? std::optional(std::move(result)) : std::nullopt;
}

// Through modules that were added in a loop: how many there are, and in which order, is not known. The dtype
// is where none of them changes it, or one of their kind does and the next leaves it: as a loop's body, they
// are taken to run at least once.
std::optional<Value> LibraryModules::forward_through_any(const Activation& activation,
                                                         const Instruction& instruction, const Value& modules,
                                                         const Value& input, ContextId inner, State& state,
                                                         int depth) {
  const auto through_all = [&](const Value& given) -> std::optional<Value> {
    Value out;
    for (const Alternative& each : modules) {
      inner = ids_.context(inner, &instruction);
      const auto passed =
          forward_through(activation, instruction, Value(each), given, inner, state, depth + 1);
      if (!passed) return std::nullopt;
      out = join(out, *passed, symbols_);
    }
    return out;
  };
  const auto same = [&](const Value& one, const Value& other) {
    return agree(Value(memory_.tensors(state, join(one, other, symbols_))));
  };
  const std::optional<Value> out = through_all(input);
  if (!out || same(input, *out)) return out;
  const std::optional<Value> again = through_all(*out);
  return again && same(*out, *again) ? std::optional(join(*out, *again, symbols_)) : std::nullopt;
}

Value LibraryModules::module_forward(const Activation& activation, const Instruction& instruction,
                                     const ModuleType& type, const std::vector<Value>& given, ContextId at,
                                     State& state) {
  if (type.forward.empty()) return given.size() > 1 ? given[1] : Value::unknown();
  if (!type.results) return module_result(activation, instruction, type, 0, given, at, state);
  int packs = 0;
  return module_results(activation, instruction, type, *type.results, given, packs, at, state);
}

Value LibraryModules::module_results(const Activation& activation, const Instruction& instruction,
                                     const ModuleType& type, const ModuleType::Result& wanted,
                                     const std::vector<Value>& given, int& packs, ContextId at,
                                     State& state) {
  if (wanted.parts.empty())
    return module_result(activation, instruction, type, wanted.number, given, at, state);
  const HeapId id = ids_.object(activation.context, &instruction, ++packs);
  HeapObject tuple;
  tuple.kind = HeapObject::Kind::kContainer;
  for (std::size_t i = 0; i < wanted.parts.size(); ++i) {
    tuple.cells[{Key::Kind::kIndex, static_cast<std::int64_t>(i)}] = rounds_.kept_in(
        state, id, module_results(activation, instruction, type, wanted.parts[i], given, packs, at, state));
  }
  state.put(id, std::move(tuple));
  return Value(Alternative::at(Kind::kObject, id));
}

Value LibraryModules::module_result(const Activation& activation, const Instruction& instruction,
                                    const ModuleType& type, int number, const std::vector<Value>& given,
                                    ContextId at, State& state) {
  const Operator* op = find_operator(number ? type.forward + "." + std::to_string(number) : type.forward);
  if (!op) return Value::unknown(questions_.asked(activation, instruction, state));
  std::vector<Input> inputs;
  for (std::size_t i = 0; i < type.arguments.size() && i < op->arguments.size(); ++i) {
    const std::string& source = type.arguments[i];
    if (source.empty()) continue;
    if (!is_input(source)) {
      inputs.push_back({op->arguments[i], module_parameter(type, source, given, state), 0});
      continue;
    }
    for (Input& each : module_inputs(instruction, source, given, state)) {
      each.argument = op->arguments[i];
      inputs.push_back(std::move(each));
    }
  }
  sinks_.record_operator(activation, instruction, *op, inputs, at, state);
  const Rank rank = rank_of_forward(
      *op, type, given.size() > 1 ? memory_.tensors(state, given[1]) : std::vector<Alternative>{});
  std::vector<Refused> refused;
  const Value out =
      operators_.apply_at(rank, activation, instruction, *op, {inputs, {}, false}, state, &refused);
  conditions_.pass_without(activation, state, refused);
  return layer_contract(*op) ? sinks_.marked(activation, instruction, *op, inputs, at, out) : out;
}

// What "$1|$0" names: several tensors where it is a tuple of them.
std::vector<Input> LibraryModules::module_inputs(const Instruction& instruction, std::string_view source,
                                                 const std::vector<Value>& given, const State& state) {
  const std::size_t position = 1 + static_cast<std::size_t>(source[1] - '0');  // behind the module
  const std::string_view otherwise = source.size() > 3 ? source.substr(3) : std::string_view();
  if (position >= given.size() && !otherwise.empty())
    return module_inputs(instruction, otherwise, given, state);
  // A Sequential hands on what stands nowhere in the text.
  const bool written = instruction.args.size() > position && position < given.size() &&
                       argument(state, instruction, position).same(given[position]);
  std::vector<Input> out;
  for (const Value& each : position < given.size() ? memory_.elements(state, given[position])
                                                   : std::vector<Value>{Value::unknown()}) {
    Input input{{}, memory_.tensors(state, each), written ? instruction.args[position].value : 0};
    const auto undefined = std::find_if(input.alternatives.begin(), input.alternatives.end(),
                                        [](const Alternative& one) { return one.kind == Kind::kNone; });
    if (undefined != input.alternatives.end() && !otherwise.empty()) {
      input.alternatives.erase(undefined);
      for (const Input& other : module_inputs(instruction, otherwise, given, state))
        input.alternatives.insert(input.alternatives.end(), other.alternatives.begin(),
                                  other.alternatives.end());
    }
    out.push_back(std::move(input));
  }
  return out;
}

// Of a module whose making is unseen the setting says what its parameters are.
std::vector<Alternative> LibraryModules::module_parameter(const ModuleType& type, const std::string& name,
                                                          const std::vector<Value>& given,
                                                          const State& state) {
  const Alternative* module = given.empty() ? nullptr : given.front().single();
  const HeapObject* object = module && module->kind == Kind::kObject ? state.find(module->object) : nullptr;
  const auto cell = object ? object->cells.find(ids_.field(name)) : Cells::const_iterator();
  if (object && cell != object->cells.end()) return memory_.tensors(state, cell->second);
  Alternative parameter =
      Alternative::tensor(type.norm ? setting_.norms : setting_.parameters, Rank::at_least(1));
  parameter.assumed = true;
  return {parameter};
}

// Of a module's forward, by position. What a contract knows by a name it takes by that name.
std::optional<Value> LibraryModules::library_module_call(const Activation& activation,
                                                         const Instruction& instruction,
                                                         const Alternative& module, State& state) {
  const std::string type = state.find(module.object)->type;
  const ModuleType* known = find_module_type(type);
  const Api* api = known ? sinks_.contract_of(known->contract) : nullptr;
  if (api) sinks_.record_module(*api, activation, instruction, state);
  std::vector<Value> given = {Value(module)};
  for (std::size_t i = 1; i < instruction.args.size(); ++i) {
    const std::string& name = instruction.args[i].name;
    // What takes one input takes nothing that may be in there.
    const bool is_rest = i > 1 && (name == "*" || name == "**");
    if (is_rest && !api && takes_one_input(type, known)) continue;
    const bool first = i == 1 && is_named(Named::kFirstInput, name);
    if (!name.empty() && !first && !api) return std::nullopt;
    const Operand* operand = api ? operand_of_forward(*api, instruction, i) : nullptr;
    if (!name.empty() && api && !operand) continue;
    const std::size_t place = operand ? static_cast<std::size_t>(operand->argument) + 1 : i;
    if (given.size() <= place) given.resize(place + 1, Value::unknown());
    given[place] = argument(state, instruction, i);
  }
  if (type == kSequential) {
    if (given.size() != 2) return std::nullopt;
    return forward_through(activation, instruction, given[0], given[1],
                           ids_.context(activation.context, &instruction), state, 0);
  }
  return module_forward(activation, instruction, *known, given, activation.context, state);
}

}  // namespace dtype_guard::flow
