// Calls of the interpreter: which function runs, where the class of an object or what a field holds decides,
// and which parameter each argument is.
#include <algorithm>

#include "tests/oracle/interpreter/library_modules.h"
#include "tests/oracle/interpreter/machine.h"

namespace dtype_guard::oracle {
namespace {
using Kind = Value::Kind;
constexpr std::string_view kItself = "__call__", kList = "*", kKeywords = "**";

bool takes_itself(const Function& code) { return code.kind != flow::FunctionKind::kFunction; }
}  // namespace

// Of the class itself, or of its bases, the nearest first.
const Function* Machine::method(std::string_view class_name, std::string_view name) const {
  std::vector<std::string> level = {std::string(class_name)};
  for (int depth = 0; depth < 4 && !level.empty(); ++depth) {
    std::vector<std::string> above;
    for (const std::string& type : level) {
      for (const Function& each : module_.functions) {
        if (each.kind == flow::FunctionKind::kMethod && each.name == type + "::" + std::string(name))
          return &each;
      }
      for (const flow::ClassFacts& each : module_.classes) {
        if (each.name == type) above.insert(above.end(), each.bases.begin(), each.bases.end());
      }
    }
    level = std::move(above);
  }
  return nullptr;
}

// "*" stands for what a list holds, "**" for what a dictionary does.
std::vector<Machine::Handed> Machine::spread(const Frame& frame, const Instruction& each) const {
  std::vector<Handed> out;
  for (std::size_t i = 0; i < each.args.size(); ++i) {
    const std::string& name = each.args[i].name;
    const Value& value = argument(frame, each, i);
    if (name != kList && name != kKeywords) {
      out.push_back({name, value});
      continue;
    }
    const Value all = behind(value);
    if (!all.is(Kind::kObject)) throw Stop{End::kOpen, "nothing that could be spread"};
    const Object& held = objects_[all.id];
    if (name == kList) {
      for (std::size_t at = 0; at < held.count(); ++at)
        out.push_back({"", read({all.id, cell_of_element(at)})});
    } else {
      for (const auto& [key, cell] : held.cells) out.push_back({std::string(key.view().substr(1)), cell});
    }
  }
  return out;
}

// What others leave: a list of positions, or a dictionary of names.
Value Machine::rest_of(flow::Rest rest, const std::vector<Handed>& left) {
  Object all;
  if (rest == flow::Rest::kPositional) all.kind = Object::Kind::kContainer;
  if (rest == flow::Rest::kKeywords) all.type = Symbol(flow::kDictionary);
  for (const Handed& each : left) {
    if (each.name.empty() != (rest == flow::Rest::kPositional)) continue;
    const Symbol cell = each.name.empty() ? cell_of_element(all.count()) : cell_of_field(each.name);
    all.cells[cell] = each.value;
  }
  return Value::at(Kind::kObject, make(std::move(all)));
}

// Positions first, then names, then what a parameter is where nothing is given.
std::vector<Value> Machine::bound(const Function& code, const std::vector<Handed>& given) {
  const std::size_t itself = takes_itself(code) ? 1 : 0;
  const auto& parameters = code.parameters;
  const auto find_rest = [&](flow::Rest rest) {
    return std::find_if(parameters.begin(), parameters.end(),
                        [&](const flow::Parameter& each) { return each.rest == rest; });
  };
  const auto first_rest = std::min(find_rest(flow::Rest::kPositional), find_rest(flow::Rest::kKeywords));
  const std::size_t positions = itself + static_cast<std::size_t>(first_rest - parameters.begin());
  std::vector<Value> out(itself + parameters.size());
  std::vector<Handed> left;
  std::size_t next = 0;
  for (const Handed& each : given) {
    std::size_t at = next;
    if (each.name.empty()) {
      at = next < positions ? next++ : out.size();
    } else {
      const auto found = std::find_if(parameters.begin(), parameters.end(), [&](const flow::Parameter& one) {
        return one.name == each.name && one.rest == flow::Rest::kNone;
      });
      at = itself + static_cast<std::size_t>(found - parameters.begin());
    }
    if (at == out.size()) {
      const auto rest = each.name.empty() ? flow::Rest::kPositional : flow::Rest::kKeywords;
      if (find_rest(rest) == parameters.end()) throw Stop{End::kThrew, "an argument that no parameter takes"};
      left.push_back(each);
      continue;
    }
    if (!out[at].is(Kind::kNothing)) throw Stop{End::kThrew, "a parameter that is given twice"};
    out[at] = each.value;
  }
  for (std::size_t i = itself; i < out.size(); ++i) {
    const flow::Parameter& parameter = parameters[i - itself];
    if (parameter.rest != flow::Rest::kNone) out[i] = rest_of(parameter.rest, left);
    if (!out[i].is(Kind::kNothing)) continue;
    if (!parameter.default_value) throw Stop{End::kThrew, "a parameter that is not given"};
    out[i] = constant(*parameter.default_value);
  }
  return out;
}

// A lambda takes itself; a function that was found through a value does not.
Value Machine::call_closure(const Value& closure, std::vector<Handed> given) {
  const Function* body = is_closure(closure) ? find(objects_[closure.id].type.view()) : nullptr;
  if (!body) throw Stop{End::kOpen, "no closure"};
  if (!takes_itself(*body)) {
    given.erase(given.begin());
  } else {
    given.front().value = closure;
  }
  return call(*body, bound(*body, given));
}

// What an object has by a name: what a field holds comes before the methods of its class.
Value Machine::attribute_call(const Instruction& each, std::vector<Handed> given) {
  std::string_view name = std::string_view(each.name).substr(flow::kAttributeCall.size());
  name = name.substr(0, name.find("::"));
  Value receiver = behind(given.at(0).value);
  if (receiver.is(Kind::kNone)) throw Stop{End::kThrew, "none has no methods"};
  if (!receiver.is(Kind::kObject)) throw Stop{End::kOpen, "a call of what has no methods"};
  if (const Value* held = objects_[receiver.id].cells.find(cell_of_field(name)); held && name != kItself) {
    receiver = behind(*held);
    given.front().value = receiver;
    name = kItself;
  }
  if (is_closure(receiver) && name == kItself) return call_closure(receiver, std::move(given));
  if (name == kItself) name = kForward;
  if (is_library_module(receiver) && name == kForward) {
    std::vector<Value> inputs;
    for (std::size_t i = 1; i < given.size(); ++i) inputs.push_back(given[i].value);
    return library_forward(each, receiver, std::move(inputs));
  }
  const Function* body =
      receiver.is(Kind::kObject) ? method(objects_[receiver.id].type.view(), name) : nullptr;
  if (!body) throw Stop{End::kThrew, "there is no such method"};
  return call(*body, bound(*body, given));
}

Value Machine::call_instruction(Frame& frame, const Instruction& each) {
  std::vector<Handed> given = spread(frame, each);
  if (each.name.empty()) {
    const Value closure = behind(given.at(0).value);
    return call_closure(closure, std::move(given));
  }
  if (each.name.starts_with(flow::kAttributeCall)) return attribute_call(each, std::move(given));
  const Function* body = find(each.name);
  if (each.name.starts_with(flow::kVirtualCall)) {
    const std::string_view what = std::string_view(each.name).substr(flow::kVirtualCall.size());
    const std::size_t split = what.find("::");
    const Value object = behind(given.at(0).value);
    if (object.is(Kind::kNone)) throw Stop{End::kThrew, "none has no methods"};
    if (!object.is(Kind::kObject)) throw Stop{End::kOpen, "a call of what has no methods"};
    body = method(objects_[object.id].type.view(), what.substr(0, split));
    if (!body) body = find(std::string(what.substr(split + 2)));
  }
  return body ? call(*body, bound(*body, given)) : unknown_call(frame, each);
}

}  // namespace dtype_guard::oracle
