// What the setting hands in: parameters, and objects that it fills, made by their constructors, which are
// handed parameters in turn.
#include "analyzer/flow/roots/inputs.h"

#include <algorithm>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/default_functions.h"
#include "analyzer/flow/engine/held_values.h"
#include "analyzer/flow/ir/list_or_none.h"
#include "analyzer/flow/settings/module_types.h"
#include "analyzer/flow/values/ranks.h"
#include "rules/operators/library_names.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
constexpr int kMaxNestedObjects = 3;

// What is called a mask, as attention_mask and key_padding_mask are, says something of each position, so that
// it has dimensions.
Rank rank_of(const Parameter& parameter) {
  return Rank::at_least(parameter.name.ends_with(name_of(Named::kEndsNameOfMask)) ? 1 : 0);
}

// What is being made, until that is left, by an exception too.
class Making {
 public:
  explicit Making(int& depth) : depth_(++depth) {}
  ~Making() { --depth_; }
  Making(const Making&) = delete;
  Making& operator=(const Making&) = delete;

 private:
  int& depth_;
};
}  // namespace

// Steps and effects of it are its own: a root that needs it takes over the effects.
MadeObject Inputs::make_apart(const std::string& class_name, ContextId context, const State& begun) {
  MadeObject out;
  out.state = begun;
  out.state.ranks = {};
  const RunApart apart(effects_, names_);
  try {
    out.object = make_object(class_name, context, -1, Nature::kSetting, out.state);
  } catch (const BudgetExceeded& exceeded) {
    out.problem = exceeded.what();
  }
  out.several = ids_.several();
  out.effects = std::move(effects_);
  add_steps(out.effects.steps());
  return out;
}

Value Inputs::object_of_root(const std::string& class_name, State& state) {
  const MadeObject* own = root_.how.object ? &root_.how.object->made : nullptr;
  if (!own) {
    const auto [entry, is_new] = objects_.try_emplace({class_name, root_.unit, root_.how.made_by_defaults});
    if (is_new) entry->second = make_apart(class_name, ids_.context(0, &entry->first), state);
    own = &entry->second;
  }
  const MadeObject& made = *own;
  if (!made.problem.empty()) throw BudgetExceeded(made.problem);
  const RankFacts proved = std::exchange(state, made.state).ranks;
  state.ranks.take_over(proved);
  ids_.set_several(made.several);
  effects_.add_of_object(made.effects, symbols_);
  return made.object;
}

Value Inputs::object_handed_over(const Witness& witness, State& state) {
  const MadeObject& made = witness.made;
  for (const HeapId id : objects_below(made.state, {made.object})) {
    if (const HeapObject* object = made.state.find(id); object && !state.find(id)) state.put(id, *object);
  }
  for (const HeapId id : made.several) ids_.note_several(id);
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
  if (root_.how.made_by_defaults && parameter.kind == ParameterKind::kOther && parameter.default_value) {
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
  if (root_.objects_in_making >= kMaxNestedObjects)
    return Value::unknown(ids_.symbol(root, &index_, position));
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
  {
    const Making making(root_.objects_in_making);
    construct(constructors, object, root, state);
    if (position >= 0) give_fields(class_name, id, root, nature, state);
  }
  hand_over(state, object, class_name, root_.objects_in_making == 0);
  return object;
}

// What any of its constructors leaves.
void Inputs::construct(const std::vector<std::uint32_t>& constructors, const Value& object, ContextId root,
                       State& state) {
  std::optional<State> made;
  const Dtype default_dtype = state.default_dtype;
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

Value Inputs::input(const Parameter& parameter, ContextId context, int position, Nature nature,
                    State& state) {
  const SymbolSetId own = ids_.choice(nature, context, &index_, position);
  const HeapId id = ids_.object(context, &index_, position);
  const auto by_reference = [&](const Value& contents) {
    if (!parameter.by_reference) return contents;
    HeapObject slot;
    const Key key{Key::Kind::kVariable, 0};
    slot.cells[key] = contents;
    state.put(id, std::move(slot));
    return Value(Alternative::at(Kind::kReference, id, key));
  };
  const auto or_none = [&](Alternative one) {
    const Nature presence = nature == Nature::kArgument ? Nature::kShape : nature;
    Alternative none = Alternative::of(Kind::kNone);
    none.symbols = ids_.choice(presence, context, &index_, position);
    one.symbols = symbols_.unite(one.symbols, none.symbols);
    return by_reference(Value({none, one}));
  };
  Alternative tensor = Alternative::tensor(setting_.inputs, rank_of(parameter));
  tensor.assumed = tensor.handed_in = true;
  const bool is_one =
      parameter.kind == ParameterKind::kTensor || parameter.kind == ParameterKind::kOptionalTensor;
  const bool none_by_default =
      parameter.default_value && std::holds_alternative<None>(*parameter.default_value);
  const bool may_be_none = none_by_default || parameter.type == kListOrNone;
  // Objects of one class share their inputs, and are several.
  if (is_one && root_.objects_in_making == 0) tensor.rank.symbol = ids_.rank(context, &index_, position);
  switch (parameter.kind) {
    case ParameterKind::kTensor: {
      if (parameter.type.empty()) return by_reference(effects_.as_input(Value(tensor)));
      // A typed pointer states its dtype itself. Of tensors of positions or masks it is open.
      const auto element = parse_dtype(parameter.type);
      effects_.note_named(element.value_or(Dtype::kUndefined));
      const Value contents(
          Alternative::tensor(element.value_or(Dtype::kUndefined), Rank::at_least(element ? 1 : 0)));
      return memory_.shared_tensor(id, HeapObject::Kind::kBuffer, contents, state, true);
    }
    case ParameterKind::kOptionalTensor:
      return or_none(tensor);
    case ParameterKind::kTensorList: {
      HeapObject list;
      list.kind = HeapObject::Kind::kContainer;
      list.rest = Value(tensor);
      const HeapId of_list = ids_.object(context, &parameter, position);  // beside what refers to it
      state.put(of_list, std::move(list));
      const Alternative handed = Alternative::at(Kind::kObject, of_list);
      return may_be_none ? or_none(handed) : by_reference(Value(handed));
    }
    case ParameterKind::kDtype:
    case ParameterKind::kOptions:
      tensor.kind = Kind::kDtype;
      tensor.rank = {};
      return by_reference(Value(tensor));
    case ParameterKind::kNumber: {
      Alternative number = Alternative::integer(std::nullopt);
      if (parameter.type == "float" || parameter.type == "double") number = Alternative::real();
      if (parameter.type == "bool") number = Alternative::boolean(std::nullopt);
      number.truth = Truth::kSymbol;  // of a number, that it is not 0
      number.symbols = own;
      number.handed_in = true;
      return by_reference(Value(number));
    }
    case ParameterKind::kObject: {
      const Value object = make_object(parameter.type, context, position, nature, state);
      return may_be_none && object.single() ? or_none(*object.single()) : by_reference(object);
    }
    case ParameterKind::kOther:
      break;
  }
  if (parameter.rest == Rest::kKeywords) {
    HeapObject names;
    names.type = kDictionary;
    names.is_input = true;
    names.nature = Nature::kKeyword;
    state.put(id, std::move(names));
    return Value(Alternative::at(Kind::kObject, id));
  }
  return by_reference(Value::unknown(own, Truth::kSymbol));
}

}  // namespace dtype_guard::flow
