// Calls: of project functions and classes, of what has a contract, of values, and of unknown code.
#include <algorithm>

#include "analyzer/python/function_lowering.h"
#include "rules/operators/library_names.h"

namespace dtype_guard::python {

using namespace flow;

namespace {
// `p.data = ...`, which may change what a tensor is of.
bool assigns_data(const Node& node) {
  const Node left = node.is("assignment") ? node.field("left") : Node();
  if (left && left.is("attribute") && is_named(Named::kSharedData, left.field("attribute").text()))
    return true;
  const auto& all = node.children();
  return std::any_of(all.begin(), all.end(), assigns_data);
}

// Whether an expression means the same wherever it stands: a constant, a name that is bound once, a field of
// that.
bool is_plain(const Node& written, const std::map<std::string, std::vector<Node>>& assigned) {
  Node root = written;
  while (root.is("attribute")) root = root.field("object");
  if (!root.is("identifier"))
    return written.is("string") || written.is("none") || written.is("true") || written.is("false") ||
           written.is("integer") || written.is("float");
  const auto known = assigned.find(std::string(root.text()));
  return known == assigned.end() || known->second.size() == 1;
}

// `{"device": device, "dtype": dtype}` or dict(dtype=dtype), whose values mean the same wherever the
// dictionary is used. On which device a tensor is says nothing of its dtype.
std::optional<std::vector<std::pair<std::string, Node>>> plain_pairs(
    const Node& dictionary, const std::map<std::string, std::vector<Node>>& assigned) {
  const bool is_call = dictionary.is("call") && dictionary.field("function").text() == "dict";
  if (!dictionary.is("dictionary") && !is_call) return std::nullopt;
  std::vector<std::pair<std::string, Node>> out;
  for (const Node& each : is_call ? dictionary.field("arguments").children() : dictionary.children()) {
    const Node key = each.field(is_call ? "name" : "key"), given = each.field("value");
    const std::string_view text = key.text();
    const bool quoted = key.is("string") && text.size() > 2 && text.find_first_of("'\"") == 0;
    if (!each.is(is_call ? "keyword_argument" : "pair") || !(quoted || is_call)) return std::nullopt;
    const std::string_view name = is_call ? text : text.substr(1, text.size() - 2);
    if (!is_plain(given, assigned) && name != "device") return std::nullopt;
    out.emplace_back(name, given);
  }
  return out;
}

// That nothing is put into it or taken out.
bool stays(const std::string& name, std::string_view body) {
  return body.find(name + ".") == std::string_view::npos && body.find(name + "[") == std::string_view::npos;
}
}  // namespace

std::vector<FunctionLowering::Given> FunctionLowering::given(const Node& call) {
  std::vector<Given> out;
  const Node arguments = call.field("arguments");
  if (arguments.is("generator_expression")) return {{"", arguments}};
  for (const Node& each : arguments.children()) {
    if (each.is("keyword_argument")) {
      out.push_back({std::string(each.field("name").text()), each.field("value")});
    } else if (each.is("list_splat") || each.is("dictionary_splat")) {
      out.push_back({each.is("list_splat") ? "*" : "**", each.child(0)});
    } else {
      out.push_back({"", each});
    }
  }
  return out;
}

FunctionLowering::Arguments FunctionLowering::values(const std::vector<Given>& arguments) {
  Arguments out;
  for (const Given& each : arguments) out.push_back({each.name, value(each.node)});
  return out;
}

ValueId FunctionLowering::call(const Node& node) {
  std::vector<Given> all;
  for (const Given& each : given(node)) {
    const auto known = each.name == "**" && each.node.is("identifier") && !global_file_
                           ? assigned_.find(std::string(each.node.text()))
                           : assigned_.end();
    const bool once = known != assigned_.end() && known->second.size() == 1;
    const auto pairs = once ? plain_pairs(known->second[0], assigned_) : std::nullopt;
    if (pairs &&
        stays(known->first, (is_module_code() ? definition_.node : definition_.node.field("body")).text())) {
      for (const auto& [name, value] : *pairs) all.push_back({name, value});
    } else {
      all.push_back(each);
    }
  }
  return run(node.field("function"), all);
}

ValueId FunctionLowering::run(const Node& function, const std::vector<Given>& arguments) {
  if (function.is("parenthesized_expression")) return run(function.child(0), arguments);
  if (function.is("attribute")) {  // of a table by its name: the library's other methods are its own
    if (const auto out = interface_of_library_table(function, arguments)) return *out;
  }
  if (const Entity callee = resolve(function)) return call_entity(callee, function, arguments);
  if (function.is("identifier")) {
    const std::string name(function.text());
    if (knows(name)) {
      // `f = A if c else B; f(x)`: each of the two is called.
      const auto assigned = assigned_.find(name);
      const Node source =
          assigned != assigned_.end() && assigned->second.size() == 1 ? assigned->second.front() : Node();
      if (source.is("conditional_expression") && resolve(source.child(0)) && resolve(source.child(2))) {
        const ValueId test = value(source.child(1));
        const BlockId yes = builder_.block(), no = builder_.block(), after = builder_.block();
        builder_.branch(test, yes, no);
        builder_.enter(yes);
        const ValueId a = call_entity(resolve(source.child(0)), source.child(0), arguments);
        builder_.jump(after);
        builder_.enter(no);
        const ValueId b = call_entity(resolve(source.child(2)), source.child(2), arguments);
        builder_.jump(after);
        builder_.enter(after);
        return builder_.value(Op::kPhi, "", {{"", a}, {"", b}});
      }
      return call_value(load(name), arguments);
    }
    if (!global_file_ && unit_.module_names().seen.contains(name))
      return call_value(seen_global(name, &unit_.file(), builder_.unknown()), arguments);
    if (const auto out = builtin(name, arguments)) return *out;
    return unknown_call(name, std::nullopt, arguments);
  }
  if (function.is("attribute")) {
    if (const auto out = super_call(function, arguments)) return *out;
    if (const auto out = method_of_class(function, arguments)) return *out;
    if (const auto out = entered_by_hand(function, arguments)) return *out;
    if (const auto out = class_attribute(function)) return call_value(*out, arguments);
    const Node object = function.field("object");
    if (object.is("identifier") && stands_for_layers(std::string(object.text()))) {
      const std::string layer = "torch.nn." + std::string(function.field("attribute").text());
      if (const auto out = library_module(layer, arguments)) return *out;
    }
    if (const auto out = checkpointed(std::string(function.text()), arguments)) return *out;
    const bool is_apply = function.field("attribute").text() == "apply";
    if (const FunctionDefinition* forward = is_apply ? autograd_forward(function.field("object")) : nullptr)
      return applied(*forward, arguments);
    return call_method(function, arguments);
  }
  return call_value(value(function), arguments);
}

ValueId FunctionLowering::call_entity(const Entity& callee, const Node& function,
                                      const std::vector<Given>& arguments) {
  switch (callee.kind) {
    case Entity::Kind::kFunction: {
      // A body in sight is followed; what the contract says of a function of that name holds as well.
      if (!callee.function->wrappers.empty() && !callee.function->owner)
        return call_value(wrapped(*callee.function), arguments);
      if (callee.function->is_opaque) return unknown_call(callee.function->name, std::nullopt, arguments);
      const std::string dotted = callee.function->file->module() + "." + callee.function->name;
      if (const Api* api = unit_.contract(dotted)) sink(*api, arguments);
      return call_function(*callee.function, std::nullopt, arguments);
    }
    case Entity::Kind::kClass:
      return instantiate(*callee.class_definition, arguments);
    case Entity::Kind::kLibrary: {
      if (const Api* api = unit_.contract(callee.name)) {
        // What stands in a list is bound where it is known what that holds, and in a dictionary where the
        // first operand must be there.
        const auto is_given = [&](const auto& is) {
          return std::any_of(arguments.begin(), arguments.end(), is);
        };
        const bool has_first = is_given([&](const Given& each) {
          return each.name.empty() || (!api->operands.empty() && each.name == api->operands.front().called());
        });
        const bool spreads = is_given(
            [&](const Given& each) { return each.name == "*" || (each.name == "**" && !has_first); });
        return spreads ? call_value(*library_function(callee.name), arguments) : sink(*api, arguments);
      }
      if (const auto out = higher_order(callee.name, arguments)) return *out;
      if (const auto out = library_call(callee.name, arguments)) return *out;
      return unknown_call(callee.name, std::nullopt, arguments);
    }
    case Entity::Kind::kValue:
      if (const auto tuple = named_tuple(callee, arguments)) return *tuple;
      return call_value(
          seen_global(callee.name.substr(callee.name.rfind('.') + 1), callee.file, global_value(callee)),
          arguments);
    case Entity::Kind::kChoice:
      return chosen(callee, [&](const Entity& each) { return call_entity(each, function, arguments); });
    default:
      break;
  }
  return unknown_call(std::string(function.text()), std::nullopt, arguments);
}

// Names are bound by the engine, where the callee's parameters are known.
ValueId FunctionLowering::call_function(const FunctionDefinition& callee, std::optional<ValueId> object,
                                        const std::vector<Given>& arguments) {
  Arguments handed;
  if (object) handed.push_back({"", *object});
  if (callee.is_class_method) handed.push_back({"", builder_.unknown()});
  for (flow::Argument& each : values(arguments)) handed.push_back(std::move(each));
  if (callee.is_opaque) return builder_.value(Op::kCall, callee.name, std::move(handed));
  const bool is_virtual = object && callee.owner && !callee.is_static && !callee.is_class_method;
  const std::string name =
      is_virtual ? std::string(kAttributeCall) + callee.name + "::" + callee.key : callee.key;
  if (!is_virtual) add_defaults(callee, arguments, handed);
  return builder_.value(Op::kCall, name, std::move(handed));
}

ValueId FunctionLowering::instantiate(const ClassDefinition& callee, const std::vector<Given>& arguments) {
  bool complete = true;
  const FunctionDefinition* constructor = unit_.modules().method(callee, "__init__", &complete);
  Arguments handed = values(arguments);
  if (!constructor && callee.is_dataclass) {
    const ValueId made = builder_.value(Op::kObject, callee.qualified, {});
    handed.insert(handed.begin(), {"", made});
    builder_.value(Op::kCall, constructor_key(callee), std::move(handed));
    return made;
  }
  if (callee.is_opaque) return builder_.value(Op::kCall, callee.qualified, std::move(handed));
  if (!complete && !constructor) return made_by_unseen_base(callee, std::move(handed));
  const ValueId made = builder_.value(Op::kObject, callee.qualified, {});
  if (!constructor || constructor->owner != &callee) take_class_attributes(callee, made);
  if (!constructor) return made;
  handed.insert(handed.begin(), {"", made});
  add_defaults(*constructor, arguments, handed);
  builder_.value(Op::kCall, constructor->key, std::move(handed));
  return made;
}

// The call's own casts stand before it as the branch that they are in the library.
void FunctionLowering::recast(const Api& api, ValueId target, Arguments& operands) {
  const auto first = std::find_if(operands.begin(), operands.end(), [&](const flow::Argument& each) {
    return each.name == api.operands.front().role;
  });
  if (first == operands.end()) return;
  const BlockId named = builder_.block(), yes = builder_.block(), no = builder_.block();
  builder_.branch(builder_.op("defined", {{"self", target}}), named, no);
  builder_.enter(named);
  const ValueId dtype = builder_.value(Op::kDtypeOf, first->value);
  builder_.branch(builder_.op("eq", {{"self", dtype}, {"other", builder_.constant(api.recast.from)}}), yes,
                  no);
  builder_.enter(yes);
  Arguments cast;
  for (const flow::Argument& each : operands)
    cast.push_back({each.name, builder_.op("to", {{"self", each.value}, {"dtype", target}})});
  const BlockId after = builder_.block();
  builder_.jump(after);
  builder_.enter(no);
  for (flow::Argument& each : operands) each.value = builder_.value(Op::kCopy, each.value);
  builder_.jump(after);
  builder_.enter(after);
  for (std::size_t i = 0; i < operands.size(); ++i)
    operands[i].value = builder_.value(Op::kPhi, "", {{"", cast[i].value}, {"", operands[i].value}});
}

// Operands by what Python callers call them, or by position.
ValueId FunctionLowering::sink(const Api& api, const std::vector<Given>& arguments) {
  Arguments handed;
  int place = 0;
  bool stars = false;
  std::optional<ValueId> target;
  for (const Given& each : arguments) {
    const ValueId given_value = value(each.node);
    if (!each.name.empty() && each.name == api.recast.keyword) target = given_value;
    if (each.name == "*" || each.name == "**") {
      stars = stars || each.name == "*";
      continue;
    }
    const int at = each.name.empty() && !stars ? place++ : -1;
    for (const Operand& operand : api.operands) {
      const bool named = !each.name.empty() && (each.name == operand.called() || each.name == operand.role);
      if (named || (at >= 0 && operand.argument == at)) {
        handed.push_back({operand.role, given_value});
        break;
      }
    }
  }
  if (target) recast(api, *target, handed);
  return builder_.value(Op::kSink, api.name, std::move(handed));
}

ValueId FunctionLowering::call_value(ValueId callee, const std::vector<Given>& arguments) {
  Arguments handed = {{"", callee}};
  for (flow::Argument& each : values(arguments)) handed.push_back(std::move(each));
  return builder_.value(Op::kCall, std::string(kAttributeCall) + "__call__", std::move(handed));
}

// What it does is unknown: containers and objects that it is handed may hold anything afterwards. The
// object whose method is running is not handed out by calling a method of it.
ValueId FunctionLowering::unknown_call(const std::string& name, std::optional<ValueId> object,
                                       const std::vector<Given>& arguments) {
  Arguments handed;
  if (object && *object != self_) handed.push_back({"", *object});
  for (const Given& each : arguments) {
    const ValueId one = value(each.node);
    if (one != self_ || self_ == 0) handed.push_back({"", one});
  }
  return builder_.value(Op::kCall, "?" + name, std::move(handed));
}

std::optional<ValueId> FunctionLowering::super_call(const Node& function,
                                                    const std::vector<Given>& arguments) {
  const Node object = function.field("object");
  if (!object.is("call") || object.field("function").text() != "super" || !own_class()) return std::nullopt;
  const std::string name(function.field("attribute").text());
  bool complete = true;
  for (const BaseClass& each : unit_.modules().bases(*own_class())) {
    const ClassDefinition* above = each.definition;
    const FunctionDefinition* method = above ? unit_.modules().method(*above, name, &complete) : nullptr;
    if (!method) continue;
    Arguments handed = {{"", self_ ? self_ : builder_.unknown()}};
    for (flow::Argument& one : values(arguments)) handed.push_back(std::move(one));
    add_defaults(*method, arguments, handed);
    return builder_.value(Op::kCall, method->is_opaque ? method->name : method->key, std::move(handed));
  }
  values(arguments);
  return builder_.unknown();
}

// Attention.attend(self, q): that class's own, whatever the object's class has.
std::optional<ValueId> FunctionLowering::method_of_class(const Node& function,
                                                         const std::vector<Given>& arguments) {
  const Entity of = resolve(function.field("object"));
  if (of.kind != Entity::Kind::kClass || arguments.empty() || !arguments[0].name.empty()) return std::nullopt;
  bool complete = true;
  const std::string name(function.field("attribute").text());
  const FunctionDefinition* method = unit_.modules().method(*of.class_definition, name, &complete);
  if (!method || method->is_static || method->is_class_method || method->is_property) return std::nullopt;
  if (method->is_opaque || !method->wrappers.empty()) return std::nullopt;
  Arguments handed = values(arguments);
  add_defaults(*method, {arguments.begin() + 1, arguments.end()}, handed);
  return builder_.value(Op::kCall, method->key, std::move(handed));
}

ValueId FunctionLowering::call_attribute(const std::string& name, ValueId object,
                                         const std::vector<Given>& arguments) {
  Arguments handed = {{"", object}};
  for (flow::Argument& each : values(arguments)) handed.push_back(std::move(each));
  // What does something to the tensors that it lists may do anything to the module.
  const bool escapes = is_named(Named::kLeavesDtypes, name) && assigns_data(definition_.node);
  return builder_.value(Op::kCall, (escapes ? "?" : std::string(kAttributeCall)) + name, std::move(handed));
}

ValueId FunctionLowering::call_method(const Node& function, const std::vector<Given>& arguments) {
  const Node object_node = function.field("object");
  const std::string name(function.field("attribute").text());
  if (is_self(object_node) && own_class()) {
    bool complete = true;
    const FunctionDefinition* method = unit_.modules().method(*own_class(), name, &complete);
    if (method && !method->is_property) {
      if (method->is_static) return call_function(*method, std::nullopt, arguments);
      if (method->is_class_method) return call_function(*method, std::nullopt, arguments);
      return call_function(*method, self_, arguments);
    }
    if (method) return call_value(call_function(*method, self_, {}), arguments);
    if (name == "register_buffer" || name == "register_parameter" || name == "add_module" ||
        name == "register_module") {
      const auto key = arguments.empty() ? std::nullopt : field_named(arguments[0].node);
      ValueId held = 0;
      for (std::size_t i = 1; i < arguments.size(); ++i) {
        const bool second = arguments[i].name.empty() ? i == 1 : arguments[i].name != "persistent";
        const ValueId one = value(arguments[i].node);
        if (second && !held) held = one;
      }
      if (!key || !held) return builder_.unknown();
      const std::string kind = name == "register_buffer"      ? "buffer"
                               : name == "register_parameter" ? "parameter"
                                                              : "module";
      // Without a tensor nothing is registered.
      const ValueId handle = builder_.registration(kind, self_, *key, held);
      Place place;
      place.base = self_;
      place.path.push_back({Place::Step::Kind::kField, *key, 0});
      builder_.store(std::move(place), handle);
      return builder_.none();
    }
    Place place;
    place.base = self_;
    place.path.push_back({Place::Step::Kind::kField, name, 0});
    const bool is_of_subclass = unit_.is_project_method(name);  // which the base calls
    const bool converts =
        name == "to" || name == "half" || name == "float" || name == "bfloat16" || name == "double";
    const bool is_own = complete && !find_operator("torch.Tensor." + name);
    // A field that holds a module or function, or an unknown method.
    if (!is_of_subclass && (is_own || !converts))
      return call_value(builder_.load(std::move(place)), arguments);
  }
  const ValueId object = value(object_node);
  const bool may_be_field = is_tensor_method(name) && unit_.is_project_field(name);
  if (may_be_field || unit_.is_project_method(name)) return method_of_either(name, object, arguments);
  if (const auto out = tensor_method(name, object, arguments)) return *out;
  return method_of_container(object_node, name, object, arguments);
}

}  // namespace dtype_guard::python
