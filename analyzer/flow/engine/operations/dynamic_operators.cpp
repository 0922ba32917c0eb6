// Operators whose meaning hangs on what arrives, as it does in a language without static types: x[i] of a
// tensor or a list, x.to(...) of a tensor or a module, x += y in place or not.
#include <algorithm>

#include "analyzer/flow/engine/engine.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
constexpr std::string_view kAugmented = "augmented::";
constexpr std::string_view kInstalled = "installed::";
constexpr std::string_view kNumber = "number::";
constexpr std::string_view kParameterType = "parameter";

bool is_slices(std::string_view how) { return how == "slice" || how == "part" || how == "new_dimension"; }

// What is known of it stays; of the rest only that it is a number.
Value number_of(const Value& given, std::string_view type) {
  std::vector<Alternative> all = given.alternatives();
  for (Alternative& each : all) {
    if (each.kind != Kind::kUnknown && each.kind != Kind::kTop) continue;
    Alternative number = type == "float"  ? Alternative::real()
                         : type == "bool" ? Alternative::boolean(std::nullopt)
                                          : Alternative::integer(std::nullopt);
    number.symbols = each.symbols;
    each = number;
  }
  return Value(std::move(all));
}

// By one integer a dimension goes, by a slice it stays.
Rank rank_of_part(const Rank& whole, const std::string& how) {
  if (how == "slice") return whole;
  if (is_slices(how)) return Rank::at_least(1);
  return whole.min >= 2 ? Rank::at_least(1) : Rank{};
}
}  // namespace

bool takes_slices(const Instruction& subscript) {
  return subscript.args.size() > 1 && is_slices(subscript.args[1].name);
}

// The element of a container that an index means; of any, where it is not constant.
Key Engine::element_key(const Activation& activation, const Instruction& instruction, const State& state) {
  const Value* index = named(state, instruction, "index");
  const Alternative* one = index ? index->single() : nullptr;
  if (!one || !one->has_number) return {Key::Kind::kAny, 0};
  if (one->kind == Kind::kString) {
    const Instruction* text = nullptr;
    for (const Argument& each : instruction.args) {
      if (each.name == "index") text = activation.info.definition(each.value);
    }
    const auto* name = text ? std::get_if<std::string>(&text->constant) : nullptr;
    return name ? ids_.field(*name) : Key{Key::Kind::kAny, 0};
  }
  return one->number < 0 ? Key{Key::Kind::kAny, 0} : Key{Key::Kind::kIndex, one->number};
}

Value Engine::part_of(const Activation& activation, const Instruction& instruction, State& state) {
  const std::string how = instruction.args.size() > 1 ? instruction.args[1].name : "any";
  Value whole = argument(state, instruction, 0);
  if (const Alternative* one = whole.single(); one && one->kind == Kind::kReference)
    whole = read(state, Location{one->object, one->key});
  const Key key = element_key(activation, instruction, state);
  Value out;
  for (const Alternative& each : whole) {
    if (each.kind == Kind::kObject) {
      const bool sliced = takes_slices(instruction);
      const HeapObject* object = state.find(each.object);
      const bool by_any_key = object && object->type == kDictionary && key.kind == Key::Kind::kAny;
      // Some of a list's modules are those of the list.
      const bool of_modules = object && object->type.starts_with("torch::nn::");
      const Value held = sliced && of_modules ? Value(each)
                         : sliced             ? Value::unknown(symbols_of(whole, symbols_))
                         : by_any_key         ? one_of_dictionary(*object)
                                              : read(state, Location{each.object, key, each.symbols});
      out = join(out, held, symbols_);
      continue;
    }
    const bool tensor = each.kind == Kind::kTensor || each.kind == Kind::kHandle;
    if (!tensor) {
      out = join(out, Value::unknown(each.symbols), symbols_);
      continue;
    }
    for (Alternative part : tensors(state, Value(each))) {
      part.rank = own_rank(activation, instruction, rank_of_part(part.rank, how));
      out = join(out, Value(part), symbols_);
    }
  }
  return out.is_bottom() ? Value::unknown() : out;
}

void Engine::store_element(const Activation& activation, const Instruction& instruction, State& state) {
  const Value* stored = named(state, instruction, "value");
  const Value given = stored ? *stored : Value::unknown();
  const Key key = element_key(activation, instruction, state);
  const Value whole = argument(state, instruction, 0);
  for (const Alternative& each : whole) {
    if (each.kind == Kind::kObject)
      write(state, Location{each.object, key}, given, whole.size() == 1 && key.kind != Key::Kind::kAny);
  }
}

// In place for a tensor, which keeps its dtype; for anything else a new value.
Value Engine::augmented(const Activation& activation, const Instruction& instruction, State& state) {
  const Alternatives before = tensors(state, argument(state, instruction, 0));
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
  return operation(activation, plain, state);
}

Value Engine::own_parameter(const Activation& activation, const Instruction& instruction, State& state) {
  Value contents;
  for (Alternative each : tensors(state, argument(state, instruction, 0))) {
    if (each.kind != Kind::kTensor) each = Alternative::tensor(Dtype::kUndefined, Rank{});
    contents = join(contents, Value(each), symbols_);
  }
  const Value out = shared_tensor(ids_.object(activation.context, &instruction), HeapObject::Kind::kTensor,
                                  contents, state);
  state.change(out.single()->object).type = kParameterType;
  return out;
}

bool Engine::is_module_type(const std::string& type) const {
  if (find_module_type(type) || type == kSequential || type.starts_with("torch::nn::")) return true;
  const std::vector<std::uint32_t> made = index_.constructors(type, unit_);
  return std::any_of(made.begin(), made.end(),
                     [&](std::uint32_t each) { return index_.function(each).of_module; });
}

// What a module registers when a field of it is assigned: parameters and modules.
std::optional<Registration::Kind> Engine::registered_as(const State& state, const Value& given) const {
  std::optional<Registration::Kind> out;
  for (const Alternative& each : given) {
    const HeapObject* object =
        each.kind == Kind::kHandle || each.kind == Kind::kObject ? state.find(each.object) : nullptr;
    // `nn.Parameter(...) if scales else 1`: of a number nothing is registered.
    if (each.kind == Kind::kNone || each.kind == Kind::kNumber) continue;
    if (!object) return std::nullopt;
    const bool parameter = each.kind == Kind::kHandle && object->type == kParameterType;
    const bool module = each.kind == Kind::kObject && is_module_type(object->type);
    if (!parameter && !module) return std::nullopt;
    const auto kind = parameter ? Registration::Kind::kParameter : Registration::Kind::kModule;
    if (out && *out != kind) return std::nullopt;
    out = kind;
  }
  return out;
}

std::optional<Value> Engine::dynamic_operation(const Activation& activation, const Instruction& instruction,
                                               State& state) {
  const std::string& name = instruction.name;
  if (auto of_dictionary = dictionary_operation(activation, instruction, state)) return of_dictionary;
  if (name == "subscript") return part_of(activation, instruction, state);
  if (name == "store_element") {
    store_element(activation, instruction, state);
    return Value::none();
  }
  if (name == "parameter") return own_parameter(activation, instruction, state);
  if (name.starts_with(kAugmented)) return augmented(activation, instruction, state);
  if (name.starts_with(kNumber))
    return number_of(argument(state, instruction, 0), std::string_view(name).substr(kNumber.size()));
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
        return object && object->stands == HeapObject::Stands::kForItself && is_module_type(object->type);
      });
  if (objects && instruction.args.size() == 2 && (name == "to" || name == "module_dtype")) {
    const Value owner = self;
    retype(activation, instruction, state);
    return owner;
  }
  return std::nullopt;
}

}  // namespace dtype_guard::flow
