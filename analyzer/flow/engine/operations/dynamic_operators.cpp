// Operators whose meaning hangs on what arrives, as it does in a language without static types: x[i] of a
// tensor or a list, x.to(...) of a tensor or a module, x += y in place or not.
#include "analyzer/flow/engine/operations/dynamic_operators.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/known_values.h"
#include "analyzer/flow/engine/operands.h"
#include "analyzer/flow/settings/module_types.h"
#include "rules/operators/library_names.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
constexpr std::string_view kAugmented = "augmented::";
constexpr std::string_view kInstalled = "installed::";
constexpr std::string_view kNumber = "number::";
constexpr std::string_view kObjectOf = "object_of::";
// Of a store; what stands in `places` is a tensor with dimensions.
constexpr std::string_view kStored = "values", kAt = "at", kPlaces = "places";

// What arithmetic makes of things that nothing is known of.
bool is_of_unknown_dtype(const Alternative& each) {
  return each.kind == Kind::kTensor && each.dtype == Dtype::kUndefined && !each.rank.wrapped;
}

// What is known of it stays; of the rest only that it is a number.
Value number_of(const Value& given, std::string_view type) {
  std::vector<Alternative> all = given.alternatives();
  for (Alternative& each : all) {
    if (each.kind != Kind::kUnknown && each.kind != Kind::kTop && !is_of_unknown_dtype(each)) continue;
    Alternative number = type == "float"  ? Alternative::real()
                         : type == "bool" ? Alternative::boolean(std::nullopt)
                                          : Alternative::integer(std::nullopt);
    number.symbols = each.symbols;
    each = number;
  }
  return Value(std::move(all));
}

// By one integer a dimension goes, by a slice it stays; of several parts it is not known how many go.
Rank rank_of_part(const Rank& whole, const std::string& how, bool is_one, bool at_places) {
  if (how == "slice") return whole;
  if (is_slices(how) || at_places) return Rank::at_least(1);
  if (!is_one) return Rank{};
  return whole.min >= 2 ? Rank::at_least(1) : Rank{};
}
// A mask, or a tensor of integers with dimensions, names places; a tensor without dimensions is one number.
bool names_places(const Alternative& index) {
  if (index.kind != Kind::kTensor || index.rank.wrapped) return false;
  const bool may_be_mask = index.dtype == Dtype::kUndefined;
  return index.dtype == Dtype::kBool || ((may_be_mask || is_integral(index.dtype)) && index.rank.min > 0);
}
// Which of several objects it is goes with what tells them apart: a number, a name, a class.
Value one_of_unlike(const Activation& activation, const Instruction& instruction, const Value& any,
                    SymbolSets& symbols, Identities& ids) {
  const auto is_object = [](const Alternative& each) { return each.kind == Kind::kObject; };
  if (any.size() < 2 || !std::all_of(any.begin(), any.end(), is_object)) return any;
  const SymbolSetId which = ids.choice(Nature::kRound, activation.context, &instruction);
  std::vector<Alternative> out = any.alternatives();
  for (Alternative& each : out) each.symbols = symbols.unite(each.symbols, which);
  return Value(std::move(out));
}
}  // namespace

bool DynamicOperators::are_places(const Argument& index, const State& state) {
  if (index.name != kAt) return false;
  const std::vector<Alternative> all = memory_.tensors(state, value(state, index.value));
  return !all.empty() && std::all_of(all.begin(), all.end(), names_places);
}

// The element of a container that an index means; of any, where it is not constant.
Key DynamicOperators::element_key(const Activation& activation, const Instruction& instruction,
                                  const State& state, const HeapObject* list) {
  const Value* index = named(state, instruction, "index");
  const Value* computed = index || !is_list(list) ? nullptr : named(state, instruction, kAt);
  const Alternative* one = index ? index->single() : computed ? computed->single() : nullptr;
  const bool is_whole = one && (one->kind == Kind::kString || one->dtype == Dtype::kInt64);
  if (!is_whole || !one->has_number || (computed && one->kind != Kind::kNumber)) return {Key::Kind::kAny, 0};
  if (one->kind == Kind::kString) {
    const Instruction* text = nullptr;
    for (const Argument& each : instruction.args) {
      if (each.name == "index") text = activation.info.definition(each.value);
    }
    const auto* name = text ? std::get_if<std::string>(&text->constant) : nullptr;
    return name ? ids_.field(*name) : Key{Key::Kind::kAny, 0};
  }
  return ListParts::position(list, one->number);
}

Key DynamicOperators::named_key(const Activation& activation, const Instruction& instruction,
                                const State& state) {
  const Value* key = named(state, instruction, "key");
  const Alternative* one = key ? key->single() : nullptr;
  const std::string* spelt = nullptr;
  for (const Argument& each : instruction.args) {
    const Instruction* text = each.name == "spelt" ? activation.info.definition(each.value) : nullptr;
    if (text) spelt = std::get_if<std::string>(&text->constant);
  }
  // A tuple that was made once is itself, whatever it holds.
  if (one && spelt && one->kind == Kind::kObject && !ids_.stands_for_several(one->object))
    return ids_.field(fmt::format("[{} @{}]", *spelt, one->object));
  if (!one || !spelt || one->has_number || !one->symbols) return {Key::Kind::kAny, 0};
  return ids_.field(fmt::format("[{} {}]", *spelt, one->symbols));
}

Value DynamicOperators::part_of(const Activation& activation, const Instruction& instruction, State& state) {
  const std::string how = instruction.args.size() > 1 ? instruction.args[1].name : "any";
  Value whole = argument(state, instruction, 0);
  if (const Alternative* one = whole.single(); one && one->kind == Kind::kReference)
    whole = memory_.read(state, Location{one->object, one->key});
  const Value* by = named(state, instruction, "key");
  const bool at_places = std::any_of(instruction.args.begin(), instruction.args.end(),
                                     [&](const Argument& each) { return are_places(each, state); });
  Value out;
  std::vector<Value> of_objects;
  std::vector<SymbolSetId> conditions;
  int slices = 0;
  for (const Alternative& each : whole) {
    if (each.kind == Kind::kObject) {
      const bool sliced = takes_slices(instruction);
      const HeapObject* object = state.find(each.object);
      const Key written = element_key(activation, instruction, state, object);
      const bool is_computed = object && by && written.kind == Key::Kind::kAny;
      const Key key = is_computed ? dictionaries_.named_by(*object, *by) : written;
      const bool has_keys = object && (object->type == kDictionary || object->type == kModuleDict);
      const bool by_any_key = has_keys && key.kind == Key::Kind::kAny;
      const Key by_name = by_any_key ? named_key(activation, instruction, state) : key;
      const auto stored = by_any_key ? object->cells.find(by_name) : Cells::const_iterator();
      const auto slice =
          sliced ? list_parts_.slice(activation, instruction, each, ++slices, state) : std::nullopt;
      const Value held = slice    ? *slice
                         : sliced ? Value::unknown(symbols_of(whole, symbols_))
                         : by_any_key && stored != object->cells.end() ? stored->second
                         : by_any_key ? dictionaries_.one_of_dictionary(*object, by ? *by : Value())
                                      : memory_.read(state, Location{each.object, key, each.symbols});
      const bool is_any = key.kind == Key::Kind::kAny && !sliced && !by;
      of_objects.push_back(is_any ? one_of_unlike(activation, instruction, held, symbols_, ids_) : held);
      conditions.push_back(each.symbols);
      continue;
    }
    if (each.kind == Kind::kNone && whole.size() > 1) continue;  // it throws: what follows has another
    const bool tensor = each.kind == Kind::kTensor || each.kind == Kind::kHandle;
    if (!tensor) {
      Alternative part = *Value::unknown(each.symbols).single();
      // Nothing but a tensor takes None among its indices, and it has that dimension then.
      if (how == "new_dimension" && each.kind == Kind::kUnknown) {
        part = Alternative::tensor(Dtype::kUndefined,
                                   ranks_.own_rank(activation, instruction, Rank::at_least(1)));
        part.uncertain = true;
      }
      out = join(out, Value(part), symbols_);
      continue;
    }
    for (Alternative part : memory_.tensors(state, Value(each))) {
      const bool is_one = by || is_slices(how) || named(state, instruction, "index");
      part.rank = ranks_.own_rank(activation, instruction, rank_of_part(part.rank, how, is_one, at_places));
      out = join(out, Value(part), symbols_);
    }
  }
  // Where it may be something unknown too, what decides that is not told apart from what decides among these.
  if (of_objects.size() < whole.size()) conditions.assign(conditions.size(), 0);
  out = join(out, memory_.held_by_either(of_objects, conditions), symbols_);
  return out.is_bottom() ? Value::unknown() : out;
}

// self.layers[i] = Block(): a list of modules or parameters registers what is put in the place of another.
void DynamicOperators::register_layers(HeapId list, const Value& given, State& state) {
  for (const Alternative& each : given) {
    const HeapObject* put = each.object ? state.find(each.object) : nullptr;
    if (put && each.kind == Kind::kObject && registrations_.is_module_type(put->type))
      registrations_.enter(list, {Registration::Kind::kModule, "", Value(each)}, state);
    if (put && each.kind == Kind::kHandle && put->type == kParameterType)
      registrations_.enter(list, {Registration::Kind::kParameter, "", Value(each)}, state);
  }
}

void DynamicOperators::store_element(const Activation& activation, const Instruction& instruction,
                                     State& state) {
  const Value* stored = named(state, instruction, kStored);
  const Value given = stored ? *stored : Value::unknown();
  const Value whole = argument(state, instruction, 0);
  const Value* by = named(state, instruction, "key");
  for (const Alternative& each : whole) {
    if (each.kind != Kind::kObject) continue;
    const HeapObject* object = state.find(each.object);
    const Key written = element_key(activation, instruction, state, object);
    const bool is_computed = by && written.kind == Key::Kind::kAny && object && object->type == kDictionary;
    const Key key = is_computed ? dictionaries_.named_by(*object, *by) : written;
    if (object && object->type.starts_with(name_of(Named::kModules)))
      register_layers(each.object, given, state);
    memory_.write(state, Location{each.object, key}, given, whole.size() == 1 && key.kind != Key::Kind::kAny);
    if (key.kind != Key::Kind::kAny || !object || object->type != kDictionary || whole.size() != 1) continue;
    // Another key may be that one, so that what stands there is perhaps this.
    const Key by_name = named_key(activation, instruction, state);
    HeapObject& changed = state.change(each.object);
    for (auto& [other, cell] : changed.cells) {
      if (other.kind == Key::Kind::kField) cell = weak_update(cell, given, symbols_);
    }
    if (by_name.kind != Key::Kind::kAny) changed.cells[by_name] = given;
  }
}

// A number takes a dimension away. Where what is stored has as many as the whole, no index is one.
bool DynamicOperators::is_as_deep(const Value& stored, const Value& whole, const State& state) {
  const auto rank = [&](const Alternative& each) { return state.ranks.known(each.rank); };
  const std::vector<Alternative> parts = memory_.tensors(state, stored), all = memory_.tensors(state, whole);
  return !parts.empty() && std::all_of(parts.begin(), parts.end(), [&](const Alternative& part) {
    return part.kind == Kind::kTensor && std::all_of(all.begin(), all.end(), [&](const Alternative& each) {
             return each.kind == Kind::kTensor && rank(part).min >= rank(each).max;
           });
  });
}

// What slices and numbers name takes a value of any dtype; what places name does not.
void DynamicOperators::store_at_places(const Activation& activation, const Instruction& instruction,
                                       State& state) {
  const auto& all = instruction.args;
  const auto stored =
      std::find_if(all.begin(), all.end(), [](const Argument& each) { return each.name == kStored; });
  if (stored == all.end()) return;
  const Value& into = argument(state, instruction, 0);
  const auto is_tensor = [&](const Argument& each) {
    const std::vector<Alternative> index = memory_.tensors(state, value(state, each.value));
    return each.name == kAt && !index.empty() &&
           std::all_of(index.begin(), index.end(),
                       [](const Alternative& one) { return one.kind == Kind::kTensor && !one.rank.wrapped; });
  };
  const auto places = std::find_if(all.begin(), all.end(), [&](const Argument& each) {
    return each.name == kPlaces || are_places(each, state) ||
           (is_tensor(each) && is_as_deep(value(state, stored->value), into, state));
  });
  if (places == all.end()) return;
  // A number is converted, wherever it goes.
  const std::vector<Alternative> given = memory_.tensors(state, value(state, stored->value));
  if (std::any_of(given.begin(), given.end(), [](const Alternative& each) {
        return each.kind == Kind::kNumber || (each.kind == Kind::kTensor && each.rank.wrapped);
      }))
    return;
  if (!std::all_of(into.begin(), into.end(), [](const Alternative& each) {
        return each.kind == Kind::kTensor || each.kind == Kind::kHandle;
      }))
    return;
  Instruction& put = renamed_.try_emplace(&instruction, instruction).first->second;
  put.name = "index_put_";
  put.args = {{"self", all.front().value}, {"indices", places->value}, {"values", stored->value}};
  if (places->name == kPlaces) {  // of no known dtype; a mask takes one number of any
    if (std::any_of(given.begin(), given.end(), [&](const Alternative& each) {
          return each.kind == Kind::kTensor && state.ranks.known(each.rank).min == 0;
        }))
      return;
    put.args.erase(put.args.begin() + 1);
  }
  evaluator_.operation(activation, put, state);
}

// That a key is asked for says that something may stand there which no code in sight has put there.
void DynamicOperators::may_hold(const Activation& activation, const Instruction& instruction, State& state) {
  const Alternative* one = argument(state, instruction, 0).single();
  const HeapObject* object = one && one->kind == Kind::kObject ? state.find(one->object) : nullptr;
  const Key key = named_key(activation, instruction, state);
  if (!object || object->type != kDictionary || key.kind == Key::Kind::kAny) return;
  state.change(one->object).cells.try_emplace(key, Value::unknown());
}

// In place for a tensor, which keeps its dtype; for anything else a new value.
Value DynamicOperators::augmented(const Activation& activation, const Instruction& instruction,
                                  State& state) {
  const std::vector<Alternative> before = memory_.tensors(state, argument(state, instruction, 0));
  const bool in_place =
      !before.empty() && std::all_of(before.begin(), before.end(), [](const Alternative& each) {
        return each.kind == Kind::kTensor && !each.rank.wrapped;
      });
  if (in_place) return argument(state, instruction, 0);
  const bool unknown = std::any_of(before.begin(), before.end(), [](const Alternative& each) {
    return each.kind == Kind::kUnknown || each.kind == Kind::kTop || each.kind == Kind::kObject;
  });
  if (unknown) return Value::unknown(symbols_of(argument(state, instruction, 0), symbols_));
  Instruction& plain = renamed_.try_emplace(&instruction, instruction).first->second;
  plain.name = instruction.name.substr(kAugmented.size());
  return evaluator_.operation(activation, plain, state);
}

Value DynamicOperators::own_parameter(const Activation& activation, const Instruction& instruction,
                                      State& state) {
  Value contents;
  for (Alternative each : memory_.tensors(state, argument(state, instruction, 0))) {
    if (each.kind != Kind::kTensor) each = Alternative::tensor(Dtype::kUndefined, Rank{});
    contents = join(contents, Value(each), symbols_);
  }
  const Value out = memory_.shared_tensor(ids_.object(activation.context, &instruction),
                                          HeapObject::Kind::kTensor, contents, state);
  state.change(out.single()->object).type = kParameterType;
  return out;
}

// What stands in another dictionary, over what stands there. Nothing where this is none.
std::optional<Value> DynamicOperators::put_all_in(const Instruction& instruction, State& state) {
  const Alternative* one = argument(state, instruction, 0).single();
  const Alternative* other = argument(state, instruction, 1).single();
  const HeapObject* into = one && one->kind == Kind::kObject ? state.find(one->object) : nullptr;
  if (!into || into->type != kDictionary) return std::nullopt;
  const HeapObject* added = other && other->kind == Kind::kObject ? state.find(other->object) : nullptr;
  const bool is_known = added && added->type == kDictionary && added->rest.is_bottom() && !added->is_input;
  if (is_known) {
    const Cells cells = added->cells;
    const bool is_certain = !added->may_be_shorter;
    for (const auto& [key, cell] : cells)
      memory_.write(state, Location{one->object, key}, cell,
                    is_certain && !ids_.stands_for_several(one->object));
  } else {
    HeapObject& changed = state.change(one->object);
    changed.cells = {};
    changed.rest = Value::unknown();
  }
  return Value::none();
}

std::optional<Value> DynamicOperators::dynamic_operation(const Activation& activation,
                                                         const Instruction& instruction, State& state) {
  const std::string& name = instruction.name;
  if (auto of_dictionary = dictionaries_.dictionary_operation(activation, instruction, state))
    return of_dictionary;
  if (name == "subscript") return part_of(activation, instruction, state);
  if (name == "store_element") {
    store_element(activation, instruction, state);
    store_at_places(activation, instruction, state);
    return Value::none();
  }
  if (name == "may_hold") {
    may_hold(activation, instruction, state);
    return Value::none();
  }
  if (name == "dict_update") return put_all_in(instruction, state);
  if (name == "parameter") return own_parameter(activation, instruction, state);
  if (name.starts_with(kAugmented)) return augmented(activation, instruction, state);
  if (name.starts_with(kNumber))
    return number_of(argument(state, instruction, 0), std::string_view(name).substr(kNumber.size()));
  if (name.starts_with(kObjectOf)) {
    // What is known of it stays; what nothing is known of is such an object, as a caller hands one in.
    const Value given = argument(state, instruction, 0);
    const Alternative* one = given.single();
    if (!one || one->kind != Kind::kUnknown) return given;
    return evaluator_.object_asked_for(name.substr(kObjectOf.size()), activation, instruction, state);
  }
  if (name.starts_with(kInstalled)) {
    Alternative out = Alternative::boolean(std::nullopt);
    out.symbols = ids_.question(Nature::kSetting, name);
    out.truth = Truth::kSymbol;
    return Value(out);
  }
  if (name == "dtype_named") {
    const Alternative* text = argument(state, instruction, 0).single();
    for (const Dtype dtype : all_dtypes()) {
      if (text && text->kind == Kind::kString && *text == Alternative::text(dtype_guard::name(dtype)))
        return Value(Alternative::a_dtype(dtype));
    }
    return Value::unknown(symbols_of(argument(state, instruction, 0), symbols_));
  }
  const Value& self = instruction.args.empty() ? Value() : argument(state, instruction, 0);
  // A module, and not what stands for the tensors of a list.
  const bool objects =
      !self.is_bottom() && std::all_of(self.begin(), self.end(), [&](const Alternative& each) {
        const HeapObject* object = each.kind == Kind::kObject ? state.find(each.object) : nullptr;
        return object && object->stands == HeapObject::Stands::kForItself &&
               registrations_.is_module_type(object->type);
      });
  if (objects && instruction.args.size() == 2 && is_named(Named::kConvertsModule, name)) {
    const Value owner = self;
    conversions_.retype(activation, instruction, state);
    return owner;
  }
  return std::nullopt;
}

}  // namespace dtype_guard::flow
