// Roots: functions some of whose callers may stand outside the analysed code. The precision setting fills
// what the code leaves open there: inputs, autocast, and modules whose conversion is unseen.
#include "analyzer/flow/roots/roots.h"

#include <algorithm>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/held_values.h"
#include "analyzer/flow/ir/list_or_none.h"
#include "analyzer/flow/settings/module_types.h"
#include "analyzer/flow/state/as_made.h"
#include "rules/operators/devices.h"
#include "rules/operators/library_names.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
constexpr std::string_view kMask = "mask";  // attention_mask, key_padding_mask

// What is called a mask says something of each position, so that it has dimensions.
Rank rank_of(const Parameter& parameter) { return Rank::at_least(parameter.name.ends_with(kMask) ? 1 : 0); }

bool takes_object(const Function& function) {
  return function.kind == FunctionKind::kMethod || function.kind == FunctionKind::kConstructor ||
         function.kind == FunctionKind::kDestructor;
}

// What autocast casts to when no dtype is named.
Dtype lower_dtype(const std::string& device) {
  return is_named(Named::kDefaultsToBFloat16, device) ? Dtype::kBFloat16 : Dtype::kFloat16;
}
}  // namespace

// A class that inherits a method and overrides what that calls is looked at like one that has it.
void Roots::evaluate_root(std::uint32_t function, const RankFacts& proved, OtherCode others) {
  effects_ = {};
  made_.steps = 0;
  origins_.begin_run();
  evaluate_as(index_.function(function).class_name, function, proved, others);
  if (made_half_.takes_notes() || made_.given) return;
  const Speculation run(effects_, kAnotherRun);
  for (const std::string& heir : program_.classes.heirs(function)) {
    try {
      evaluate_as(heir, function, proved, others);
    } catch (const BudgetExceeded&) {
      break;
    }
  }
}

// Sizes and scales stay open: no dtype hangs on which number is the default.
bool Roots::may_be_left_out(const Parameter& parameter) const {
  if (!made_.called_by_defaults || !parameter.default_value) return false;
  const bool is_number = parameter.kind == ParameterKind::kNumber && parameter.type != "bool";
  const bool is_known = !std::holds_alternative<Unknown>(*parameter.default_value);
  return is_known && !is_number && parameter.kind != ParameterKind::kDtype;
}

void Roots::evaluate_as(const std::string& class_name, std::uint32_t function, const RankFacts& proved,
                        OtherCode others) {
  const Function& code = index_.function(function);
  root_.unit = units_of(code).front();
  const ContextId own = ids_.context(0, &code);
  const ContextId root =
      class_name == code.class_name ? own : ids_.context(own, index_.class_facts(class_name));
  State state;
  state.ranks = proved;
  state.autocast.dtype = lower_dtype(options_.device);
  if (!code.is_main && program_.default_dtypes.may_differ_for(function))
    state.default_dtype = Dtype::kUndefined;
  made_.being_made = 0;
  ids_.set_in_round(false);
  root_.is_closed = code.is_main;
  ids_.set_several({});
  made_half_.begin_root();
  Speculation run(effects_, kGivenUp);
  std::vector<Value> arguments;
  if (takes_object(code) && code.kind != FunctionKind::kConstructor) {
    arguments.push_back(inputs_.object_of_root(class_name, state));
  } else if (takes_object(code)) {
    HeapObject fresh;
    fresh.type = code.class_name;
    const HeapId id = ids_.object(root, &code, -1);
    state.put(id, std::move(fresh));
    arguments.push_back(Value(Alternative::at(Kind::kObject, id)));
  }
  if (code.kind == FunctionKind::kLambda) arguments.push_back(Value::none());  // it captures nothing
  for (std::size_t i = 0; i < code.parameters.size(); ++i) {
    const Parameter& each = code.parameters[i];
    arguments.push_back(may_be_left_out(each)
                            ? constant(*each.default_value, effects_)
                            : inputs_.input(each, root, static_cast<int>(i), Nature::kArgument, state));
  }
  if (made_.handed) hand_over_arguments(code, arguments, root, state);
  const bool looks = others == OtherCode::kLookedAt;
  if (looks) others_.doubt_reassigned(state, arguments, function, root);
  others_.give_what_setters_do(state, arguments, function, root);
  others_.fill_placeholders(state, arguments, function, root);
  if (looks && made_half_.contradicts_autocast(state, arguments)) return run.keep();
  if (!code.is_main && setting_.autocast != Dtype::kUndefined)
    state.autocast = {true, false, true, setting_.autocast, {}};
  if (code.is_main) {
    for (const std::string_view each : kDevices) {
      const std::string device(each);
      if (device != options_.device)
        state.autocast.elsewhere[device] = {false, true, false, lower_dtype(device), {}};
    }
  }
  const bool makes = code.kind == FunctionKind::kConstructor;
  std::vector<HeapId> handed =
      made_half_.takes_notes() && !makes ? objects_below(state, arguments) : std::vector<HeapId>();
  bool alive = true;
  evaluator_.call(function, arguments, state, root, nullptr, alive);
  if (made_half_.takes_notes() && makes) handed = objects_below(state, arguments);
  if (alive && made_half_.takes_notes()) made_half_.note_halves(state, arguments, handed);
  if (alive && !made_.watched.empty()) note_witnesses(state);
  run.keep();
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
  tensor.assumed = true;
  const bool is_one =
      parameter.kind == ParameterKind::kTensor || parameter.kind == ParameterKind::kOptionalTensor;
  const bool none_by_default =
      parameter.default_value && std::holds_alternative<None>(*parameter.default_value);
  const bool may_be_none = none_by_default || parameter.type == kListOrNone;
  // Objects of one class share their inputs, and are several.
  if (is_one && made_.being_made == 0) tensor.rank.symbol = ids_.rank(context, &index_, position);
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
  return by_reference(Value::unknown(own));
}

namespace {
// What a tensor of a module is in the setting.
void set_contents(State& state, HeapId id, Dtype dtype, bool buffer, SymbolSets& symbols) {
  Value contents, unconverted;
  const HeapObject& tensor = *state.find(id);
  for (Alternative old : tensor.cells.at(HeapObject::kContents)) {
    if (!is_unconverted(tensor, old)) {
      contents = join(contents, Value(old), symbols);
      continue;
    }
    // Integer buffers stay what they are.
    const bool floating =
        old.kind != Kind::kTensor || old.dtype == Dtype::kUndefined || is_floating(old.dtype);
    // float32 in a setting means no conversion: what the constructor made of it stays. So does a buffer that
    // it made in the dtype that it was told, which is not known then: that may be what autocast computes in.
    const bool as_told = buffer && old.assumed;
    const bool as_made =
        dtype == Dtype::kFloat32 && old.kind == Kind::kTensor && (old.dtype != Dtype::kUndefined || as_told);
    const bool differs = old.kind != Kind::kTensor || old.dtype != dtype;
    if (floating && old.kind != Kind::kNone && differs && !as_made) {
      Alternative converted = Alternative::tensor(dtype, old.kind == Kind::kTensor ? old.rank : Rank{});
      converted.lineage = old.lineage;
      if (tensor.stated) {  // on the paths that do not convert it
        converted.symbols = old.symbols;
        converted.uncertain = converted.uncertain || old.uncertain;
      }
      old = converted;
    }
    old.assumed = old.assumed || floating;
    unconverted = join(unconverted, Value(old), symbols);
    contents = join(contents, Value(old), symbols);
  }
  HeapObject& changed = state.change(id);
  changed.cells[HeapObject::kContents] = contents;
  changed.of_setting = !changed.stated;
  if (changed.stated) set_as_made(changed, unconverted);
}
}  // namespace

void Inputs::apply_setting(State& state, const Value& value, std::vector<HeapId>& seen, bool norms) {
  for (const Alternative& each : value) {
    if (each.kind != Kind::kObject || std::find(seen.begin(), seen.end(), each.object) != seen.end())
      continue;
    seen.push_back(each.object);
    const HeapObject* object = state.find(each.object);
    if (!object) continue;
    const ModuleType* type = find_module_type(object->type);
    const bool is_norm = norms || (type && type->norm);
    for (const Registration& one : std::vector<Registration>(object->registered.get())) {
      if (one.kind == Registration::Kind::kModule) {
        apply_setting(state, one.value, seen, norms);
        continue;
      }
      const bool buffer = one.kind == Registration::Kind::kBuffer && !made_.half_buffers;
      const bool norm = is_norm && one.kind == Registration::Kind::kParameter;
      const Dtype dtype = buffer ? setting_.buffers : norm ? setting_.norms : setting_.parameters;
      // One that may be left out is None or a parameter.
      for (const Alternative& handle : one.value) {
        const HeapObject* tensor = handle.kind == Kind::kHandle ? state.find(handle.object) : nullptr;
        if (tensor && may_be_unconverted(*tensor))
          set_contents(state, handle.object, dtype, buffer, symbols_);
      }
    }
  }
}

}  // namespace dtype_guard::flow
