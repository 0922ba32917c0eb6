// Objects that a setting fills: what a root is a method of, and what it or a constructor is handed.
#include <algorithm>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/default_functions.h"
#include "analyzer/flow/roots/inputs.h"
#include "analyzer/flow/settings/module_types.h"
#include "analyzer/flow/values/ranks.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
constexpr int kMaxNestedObjects = 3;
}  // namespace

// Steps and effects of it are its own: a root that needs it takes over the effects.
MadeObject Inputs::make_apart(const std::string& class_name, ContextId context, const State& begun) {
  MadeObject out;
  out.state = begun;
  out.state.ranks.clear();
  const RunApart apart(effects_, names_);
  try {
    out.object = make_object(class_name, context, -1, Nature::kSetting, out.state);
  } catch (const BudgetExceeded& exceeded) {
    out.problem = exceeded.what();
    made_.being_made = 0;
  }
  out.several = ids_.several();
  out.effects = std::move(effects_);
  made_.steps += out.effects.steps;
  return out;
}

Value Inputs::object_of_root(const std::string& class_name, State& state) {
  const MadeObject* own = made_.given ? &made_.given->made : nullptr;
  if (!own) {
    const auto [entry, is_new] = made_.known.try_emplace({class_name, root_.unit, made_.by_defaults});
    if (is_new) entry->second = make_apart(class_name, ids_.context(0, &entry->first), state);
    own = &entry->second;
  }
  const MadeObject& made = *own;
  if (!made.problem.empty()) throw BudgetExceeded(made.problem);
  const RankFacts proved = std::exchange(state, made.state).ranks;
  for (const auto& fact : proved) {
    const auto place =
        std::lower_bound(state.ranks.begin(), state.ranks.end(), fact.first,
                         [](const auto& each, RankSymbol symbol) { return each.first < symbol; });
    if (place != state.ranks.end() && place->first == fact.first) {
      place->second = fact.second;
    } else {
      state.ranks.insert(place, fact);
    }
  }
  ids_.set_several(made.several);
  effects_.sinks.add(made.effects.sinks, symbols_);
  effects_.inputs.insert(effects_.inputs.end(), made.effects.inputs.begin(), made.effects.inputs.end());
  effects_.converted_to_half = effects_.converted_to_half || made.effects.converted_to_half;
  effects_.tells_half_types_apart = effects_.tells_half_types_apart || made.effects.tells_half_types_apart;
  return made.object;
}

Value Inputs::object_asked_for(const std::string& class_name, ContextId context, State& state) {
  const HeapId id = ids_.object(context, &index_.module(), 0);
  if (state.find(id)) return Value(Alternative::at(Kind::kObject, id));
  if (!index_.class_facts(class_name)) return Value::unknown(ids_.symbol(context, &index_, 0));
  return make_object(class_name, context, 0, Nature::kArgument, state);
}

Value Inputs::constructor_argument(const Function& constructor, std::size_t at, ContextId inner,
                                   State& state) {
  const Parameter& parameter = constructor.parameters[at];
  const int position = static_cast<int>(at);
  // A constructor that takes its own class would not end: such a parameter is left unknown.
  if (parameter.type == constructor.class_name)
    return Value::unknown(ids_.symbol(inner, &constructor, position));
  if (parameter.kind == ParameterKind::kDtype || parameter.kind == ParameterKind::kOptions) {
    // What a model is told to be made in is what its parameters are. Not under autocast, where they are what
    // nothing was told: it may as well be told what autocast computes in.
    const bool autocast = setting_.autocast != Dtype::kUndefined;
    Alternative told = Alternative::a_dtype(autocast ? Dtype::kUndefined : setting_.parameters);
    told.assumed = true;
    told.symbols = ids_.choice(Nature::kSetting, inner, &constructor, position);
    return Value(told);
  }
  if (made_.by_defaults && parameter.kind == ParameterKind::kOther && parameter.default_value) {
    const Value function = default_function(parameter, index_, inner, ids_, state);
    if (!function.is_bottom()) return function;
    if (!std::holds_alternative<Unknown>(*parameter.default_value))
      return constant(*parameter.default_value, effects_);
  }
  return input(parameter, inner, position, Nature::kSetting, state);
}

// An instance as its constructors leave it, with the setting applied to what is registered in it.
Value Inputs::make_object(const std::string& class_name, ContextId root, int position, Nature nature,
                          State& state) {
  const HeapId id = ids_.object(root, &index_.module(), position);
  const Value object(Alternative::at(Kind::kObject, id));
  const std::vector<std::uint32_t> constructors = index_.constructors(class_name, root_.unit);
  // Classes whose constructors take each other would never be done.
  if (made_.being_made >= kMaxNestedObjects) return Value::unknown(ids_.symbol(root, &index_, position));
  if (const ModuleType* type = constructors.empty() ? find_module_type(class_name) : nullptr; type) {
    return Value::unknown(
        ids_.symbol(root, &index_, position));  // its forward takes the setting's parameters
  }
  HeapObject fresh;
  fresh.type = class_name;
  fresh.symbols = ids_.symbol(root, &index_, position);
  fresh.is_input = true;
  fresh.nature = nature;
  state.put(id, std::move(fresh));
  std::optional<State> made;
  const Dtype default_dtype = state.default_dtype;
  ++made_.being_made;
  for (const std::uint32_t constructor : constructors) {
    State one = state;
    const Function& code = index_.function(constructor);
    const ContextId inner = ids_.context(root, &code);
    std::vector<Value> arguments = {object};
    for (std::size_t i = 0; i < code.parameters.size(); ++i)
      arguments.push_back(constructor_argument(code, i, inner, one));
    bool alive = true;
    evaluator_.call(constructor, std::move(arguments), one, inner, nullptr, alive);
    if (!alive) continue;
    if (made) {
      made = join({&*made, &one}, symbols_, {root});
    } else {
      made = std::move(one);
    }
  }
  if (made) state = std::move(*made);
  state.default_dtype = default_dtype;  // where it is made, not where it is handed in
  if (position >= 0) give_fields(class_name, id, root, nature, state);
  --made_.being_made;
  hand_over(state, object, class_name, made_.being_made == 0);
  return object;
}

void Inputs::hand_over(State& state, const Value& object, const std::string& class_name, bool is_whole) {
  std::vector<HeapId> opened, seen;
  open_fields(state, object, opened);
  made_.half_buffers = is_whole && made_half_.buffers_are_made_half(class_name);
  apply_setting(state, object, seen, false);
}

// An object that a caller hands in holds what the setting says that callers hand in.
void Inputs::give_fields(const std::string& class_name, HeapId id, ContextId root, Nature nature,
                         State& state) {
  const ClassFacts* facts = index_.class_facts(class_name);
  if (!facts) return;
  const ContextId inner = ids_.context(root, facts);
  for (std::size_t i = 0; i < facts->fields.size(); ++i) {
    const Value given = input(facts->fields[i], inner, static_cast<int>(i), nature, state);
    state.change(id).cells[ids_.field(facts->fields[i].name)] = given;
  }
}

}  // namespace dtype_guard::flow
