// Arguments by position and by name, those of a list and of a dictionary, and the parameters that take the
// rest of either.
#include "analyzer/flow/engine/operations/bound_arguments.h"

#include <algorithm>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/default_functions.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;

bool binds(const Function& callee, const Instruction& instruction) {
  const auto named = [](const Argument& each) { return !each.name.empty(); };
  const auto open = [](const Parameter& each) { return each.default_value || each.rest != Rest::kNone; };
  return std::any_of(instruction.args.begin(), instruction.args.end(), named) ||
         std::any_of(callee.parameters.begin(), callee.parameters.end(), open);
}
}  // namespace

// What a call hands on, lists and dictionaries taken apart.
struct BoundArguments::Spread {
  std::vector<Value> positions;
  std::vector<std::pair<std::string, Value>> names;
  bool more_positions = false, more_names = false;  // how many is not known
  Value each;  // of these positions, the last there are; bottom: not known
  // A root's own keywords, handed on: which they are is known by the names that are asked for.
  HeapId open = 0;
};

namespace {
// Of a list of unknown length: as many as are told apart from the rest.
void add_first(const HeapObject& list, std::vector<Value>& positions) {
  std::int64_t next = 0;
  for (const auto& [key, cell] : list.cells) {
    if (key.kind != Key::Kind::kIndex) continue;
    for (; next < key.id; ++next) positions.push_back(list.rest);
    positions.push_back(cell);
    ++next;
  }
}

// Of a tensor, along its first dimension; bottom where it may be something else.
Value parts_of(const Value& given) {
  std::vector<Alternative> out(given.begin(), given.end());
  for (Alternative& each : out) {
    if (each.kind != Alternative::Kind::kTensor || each.rank.wrapped) return {};
    each.rank = each.rank.min >= 2 ? Rank::at_least(1) : Rank{};
  }
  return Value(std::move(out));
}
}  // namespace

BoundArguments::Spread BoundArguments::spread(const Instruction& instruction,
                                              const std::vector<Value>& handed, const State& state) {
  Spread out;
  const std::size_t skipped = instruction.args.size() - handed.size();
  for (std::size_t i = 0; i < handed.size(); ++i) {
    const std::string& name = instruction.args[skipped + i].name;
    if (name != "*" && name != "**") {
      if (name.empty() && !out.more_positions) out.positions.push_back(handed[i]);
      if (name.empty()) out.each = {};
      if (!name.empty()) out.names.emplace_back(name, handed[i]);
      continue;
    }
    const Alternative* one = handed[i].single();
    const HeapObject* object = one && one->kind == Kind::kObject ? state.find(one->object) : nullptr;
    const bool is_list = object && object->kind == HeapObject::Kind::kContainer && object->rest.is_bottom() &&
                         object->stands == HeapObject::Stands::kForItself;
    const bool is_dictionary = object && object->type == kDictionary && object->rest.is_bottom();
    if (name == "*" && is_list) {
      for (const auto& [key, cell] : object->cells) out.positions.push_back(cell);
    } else if (name == "**" && is_dictionary) {
      for (const auto& [key, cell] : object->cells) out.names.emplace_back(ids_.field_name(key.id), cell);
      if (object->is_input) out.open = object->original ? object->original : one->object;
    } else {
      const bool has_many = object && object->kind == HeapObject::Kind::kContainer &&
                            object->stands == HeapObject::Stands::kForItself;
      if (name == "*" && has_many && !out.more_positions) add_first(*object, out.positions);
      if (name == "*")
        out.each = out.more_positions ? Value() : has_many ? object->rest : parts_of(handed[i]);
      (name == "*" ? out.more_positions : out.more_names) = true;
    }
  }
  return out;
}

// A root's own keyword is what a parameter of its own would be: of a tensor, the setting says the dtype.
Value BoundArguments::as_input(const Parameter& parameter, const Value& looked_up) const {
  const Alternative* open = looked_up.single();
  const bool may_be_none = parameter.default_value && std::holds_alternative<None>(*parameter.default_value);
  const bool is_tensor =
      parameter.kind == ParameterKind::kTensor || parameter.kind == ParameterKind::kOptionalTensor;
  if (!open || open->kind != Kind::kUnknown || !may_be_none || !is_tensor || !parameter.type.empty())
    return looked_up;
  Alternative tensor = Alternative::tensor(setting_.inputs, Rank{}), none = Alternative::of(Kind::kNone);
  tensor.assumed = tensor.handed_in = true;
  tensor.symbols = none.symbols = open->symbols;
  return Value({none, tensor});
}

// A list of the positions that are left, or a dictionary of the names.
Value BoundArguments::rest_of(const Parameter& parameter, ContextId context, const Spread& handed,
                              State& state) {
  HeapObject rest;
  if (parameter.rest == Rest::kPositional) {
    rest.kind = HeapObject::Kind::kContainer;
    for (const Value& each : handed.positions)
      rest.cells[{Key::Kind::kIndex, static_cast<std::int64_t>(rest.cells.size())}] = each;
    if (handed.more_positions) rest.rest = handed.each.is_bottom() ? Value::unknown() : handed.each;
  } else {
    rest.type = kDictionary;
    for (const auto& [name, value] : handed.names) rest.cells[ids_.field(name)] = value;
    if (handed.more_names) rest.rest = Value::unknown();
    rest.is_input = handed.open != 0;
    rest.original = handed.open;
    rest.nature = Nature::kKeyword;
  }
  const HeapId id = ids_.object(context, &parameter);
  state.put(id, std::move(rest));
  return Value(Alternative::at(Kind::kObject, id));
}

// The arguments in the order of the parameters; `handed` are the values of the last of the call's arguments.
std::vector<Value> BoundArguments::bound(const Function& callee, const Instruction& instruction,
                                         ContextId context, std::vector<Value> handed, State& state) {
  if (!binds(callee, instruction)) return handed;
  Value self;
  if (callee.kind != FunctionKind::kFunction && !handed.empty()) {
    self = handed[0];
    handed.erase(handed.begin());
  }
  return in_order(callee, context, std::move(self), spread(instruction, handed, state), state);
}

std::vector<Value> BoundArguments::bound_by_position(const Function& callee, ContextId context,
                                                     std::vector<Value> handed, State& state) {
  Spread left;
  left.positions.assign(handed.begin() + 1, handed.end());
  return in_order(callee, context, std::move(handed.front()), std::move(left), state);
}

std::vector<Value> BoundArguments::in_order(const Function& callee, ContextId context, Value self,
                                            Spread left, State& state) {
  const std::size_t own = callee.kind != FunctionKind::kFunction ? 1 : 0;
  std::vector<Value> out(own + callee.parameters.size());
  if (own) out[0] = std::move(self);
  std::size_t taken = 0;
  for (std::size_t at = 0; at < callee.parameters.size(); ++at) {
    if (callee.parameters[at].rest != Rest::kNone || taken == left.positions.size()) break;
    out[own + at] = left.positions[taken++];
  }
  left.positions.erase(left.positions.begin(), left.positions.begin() + static_cast<std::ptrdiff_t>(taken));
  for (std::size_t at = 0; at < callee.parameters.size(); ++at) {
    const Parameter& parameter = callee.parameters[at];
    const auto named = std::find_if(left.names.begin(), left.names.end(),
                                    [&](const auto& each) { return each.first == parameter.name; });
    if (parameter.rest != Rest::kNone || named == left.names.end()) continue;
    out[own + at] = named->second;
    left.names.erase(named);
  }
  for (std::size_t at = 0; at < callee.parameters.size(); ++at) {
    const Parameter& parameter = callee.parameters[at];
    Value& one = out[own + at];
    if (parameter.rest != Rest::kNone) {
      one = rest_of(parameter, context, left, state);
    } else if (one.is_bottom()) {
      // What has no default is among them, else the call throws.
      const bool is_one_of_many = !parameter.default_value && !left.more_names && !left.each.is_bottom();
      if (is_one_of_many) {
        one = left.each;
        continue;
      }
      const bool decided = parameter.default_value && !left.more_positions && !left.more_names;
      const Value function = decided ? default_function(parameter, index_, context, ids_, state) : Value();
      const Value otherwise = !function.is_bottom() ? function
                              : decided             ? constant(*parameter.default_value, effects_)
                                                    : Value::unknown();
      const HeapObject* names = decided && left.open ? state.find(left.open) : nullptr;
      one = names ? as_input(parameter, dictionaries_.looked_up(*names, left.open, parameter.name, otherwise))
                  : otherwise;
    }
  }
  return out;
}

}  // namespace dtype_guard::flow
