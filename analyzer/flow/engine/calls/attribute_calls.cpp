// Calls of what an object has by a name, which is known where it runs: methods along the bases, library
// modules, functions that a field holds; and arguments that are bound by name.
#include <algorithm>

#include "analyzer/flow/engine/engine.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
constexpr std::string_view kItself = "__call__";
}  // namespace

// What runs, and what library modules among the receivers give; `unknown` where a receiver may run anything.
Engine::Attribute Engine::attribute(const Activation& activation, const Instruction& instruction,
                                    State& state) {
  Attribute out;
  std::string_view name = instruction.name;
  name.remove_prefix(kAttributeCall.size());
  name = name.substr(0, name.find("::"));
  Value receiver = argument(state, instruction, 0);
  if (const Alternative* one = receiver.single(); one && one->kind == Kind::kReference)
    receiver = read(state, Location{one->object, one->key});
  const auto add = [&](std::uint32_t function) {
    if (std::find(out.callees.begin(), out.callees.end(), function) == out.callees.end())
      out.callees.push_back(function);
  };
  const bool itself = name == kItself;
  for (const Alternative& each : receiver) {
    if (itself && each.kind == Kind::kClosure) {
      add(each.function);
      continue;
    }
    const HeapObject* object = each.kind == Kind::kObject ? state.find(each.object) : nullptr;
    if (!object || object->type.empty()) {
      out.unknown = true;
      continue;
    }
    const std::string type = object->type;
    const bool forwards = itself || name == "forward";
    if (forwards && (find_module_type(type) || type == kSequential)) {
      const auto given = library_module_call(activation, instruction, each, state);
      out.unknown = out.unknown || !given;
      if (given) out.given = join(out.given, *given, symbols_);
      continue;
    }
    std::vector<std::uint32_t> methods =
        program_.classes.inherited(type, itself ? "forward" : name, FunctionIndex::kAnyNumber, unit_);
    if (methods.empty() && itself)
      methods = program_.classes.inherited(type, kItself, FunctionIndex::kAnyNumber, unit_);
    if (methods.size() == 1) {
      add(methods.front());
    } else {
      out.unknown = true;
    }
  }
  if (out.callees.empty() && out.given.is_bottom()) out.unknown = true;
  return out;
}

// Of a module's forward, by position.
std::optional<Value> Engine::library_module_call(const Activation& activation, const Instruction& instruction,
                                                 const Alternative& module, State& state) {
  const std::string type = state.find(module.object)->type;
  std::vector<Value> given = {Value(module)};
  for (std::size_t i = 1; i < instruction.args.size(); ++i) {
    const std::string& name = instruction.args[i].name;
    const bool first = i == 1 && (name == "input" || name == "query" || name == "hidden_states");
    if (!name.empty() && !first) return std::nullopt;
    given.push_back(argument(state, instruction, i));
  }
  if (type == kSequential) {
    if (given.size() != 2) return std::nullopt;
    return forward_through(activation, instruction, given[0], given[1],
                           ids_.context(activation.context, &instruction), state, 0);
  }
  return module_forward(activation, instruction, *find_module_type(type), given, state);
}

namespace {
bool binds(const Function& callee, const Instruction& instruction) {
  const auto named = [](const Argument& each) { return !each.name.empty(); };
  const auto open = [](const Parameter& each) { return each.default_value || each.rest != Rest::kNone; };
  return std::any_of(instruction.args.begin(), instruction.args.end(), named) ||
         std::any_of(callee.parameters.begin(), callee.parameters.end(), open);
}
}  // namespace

// The arguments in the order of the parameters; `handed` are the values of the last of the call's arguments.
std::vector<Value> Engine::bound(const Function& callee, const Instruction& instruction,
                                 std::vector<Value> handed) const {
  if (!binds(callee, instruction)) return handed;
  const bool takes_itself = callee.kind != FunctionKind::kFunction;
  const std::size_t own = takes_itself ? 1 : 0;
  const std::size_t skipped = instruction.args.size() - handed.size();
  std::vector<Value> out(own + callee.parameters.size());
  if (takes_itself && !handed.empty()) out[0] = handed[0];
  std::size_t position = 0;
  bool rest_of_positions = false, rest_of_names = false;
  for (std::size_t i = own; i < handed.size(); ++i) {
    const std::string& name = instruction.args[skipped + i].name;
    if (name == "*" || name == "**") {
      (name == "*" ? rest_of_positions : rest_of_names) = true;
      continue;
    }
    if (!name.empty()) {
      for (std::size_t at = 0; at < callee.parameters.size(); ++at) {
        if (callee.parameters[at].name == name) out[own + at] = handed[i];
      }
    } else if (!rest_of_positions && position < callee.parameters.size() &&
               callee.parameters[position].rest == Rest::kNone) {
      out[own + position++] = handed[i];
    }
  }
  for (std::size_t at = 0; at < callee.parameters.size(); ++at) {
    const Parameter& parameter = callee.parameters[at];
    Value& one = out[own + at];
    if (!one.is_bottom()) continue;
    const bool spread = rest_of_names || rest_of_positions;
    one = parameter.default_value && !spread ? constant(*parameter.default_value) : Value::unknown();
  }
  return out;
}

}  // namespace dtype_guard::flow
