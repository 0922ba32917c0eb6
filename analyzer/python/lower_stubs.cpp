// Functions and classes as values. What has no source here, an operator of PyTorch, a call that has a
// contract, a library's module, gets a stub: a function of the IR that does just that, where it is called.
#include <algorithm>

#include "analyzer/flow/settings/module_types.h"
#include "analyzer/python/function_lowering.h"

namespace dtype_guard::python {

using namespace flow;

namespace {
Place field_of(ValueId object, const std::string& name) {
  Place out;
  out.base = object;
  out.path.push_back({Place::Step::Kind::kField, name, 0});
  return out;
}

Parameter optional_parameter(std::string name) {
  Parameter out;
  out.name = std::move(name);
  out.default_value = flow::None{};
  return out;
}

// A stub takes itself, then what `parameters` says, and what else it is handed goes nowhere.
Function stub(std::string key, std::vector<Parameter> parameters) {
  Function out;
  out.key = std::move(key);
  out.name = out.key.substr(out.key.rfind(':') + 1);
  out.kind = FunctionKind::kLambda;
  out.external = false;
  out.foreign = true;
  out.parameters = std::move(parameters);
  for (const auto& [name, rest] : {std::pair{"args", Rest::kPositional}, {"kwargs", Rest::kKeywords}}) {
    Parameter more;
    more.name = name;
    more.rest = rest;
    out.parameters.push_back(std::move(more));
  }
  return out;
}

int last_parameter(const Function& function) { return static_cast<int>(function.parameters.size()); }

Function sink_stub(const std::string& key, const Api& api) {
  int count = 0;
  for (const Operand& each : api.operands) count = std::max(count, each.argument + 1);
  std::vector<Parameter> parameters;
  for (int i = 0; i < count; ++i) {
    const auto at = std::find_if(api.operands.begin(), api.operands.end(),
                                 [&](const Operand& each) { return each.argument == i; });
    Parameter& one = parameters.emplace_back(
        optional_parameter(at == api.operands.end() ? "#" + std::to_string(i) : at->called()));
    if (at != api.operands.end() && !at->optional) one.default_value.reset();
  }
  Function out = stub(key, std::move(parameters));
  Builder builder(out);
  std::vector<flow::Argument> handed;
  for (const Operand& each : api.operands) {
    if (each.argument >= 0) handed.push_back({each.role, builder.parameter(each.argument + 1)});
  }
  builder.give_back(builder.value(Op::kSink, api.name, std::move(handed)));
  builder.finish();
  return out;
}

// With `dtype=` it is another operation than without.
Function operator_stub(const std::string& key, const Operator& entry, const std::string& name) {
  std::vector<Parameter> parameters;
  for (const auto& each : entry.arguments)
    parameters.push_back(optional_parameter(parameters.empty() ? "input" : std::string(each)));
  Function out = stub(key, std::move(parameters));
  Builder builder(out);
  std::vector<flow::Argument> handed;
  int dtype = 0;
  for (std::size_t i = 0; i < entry.arguments.size(); ++i) {
    const auto& argument = entry.arguments[i];
    const bool promotes =
        std::find(entry.promoting.begin(), entry.promoting.end(), argument) != entry.promoting.end();
    if (argument == "dtype") dtype = static_cast<int>(i) + 1;
    if (i == 0 || promotes)
      handed.push_back({std::string(argument), builder.parameter(static_cast<int>(i) + 1)});
  }
  if (dtype) {
    const ValueId stated = builder.parameter(dtype);
    const BlockId with = builder.block(), without = builder.block();
    builder.branch(builder.op("defined", {{"self", stated}}), with, without);
    builder.enter(with);
    auto more = handed;
    more.push_back({"dtype", stated});
    builder.give_back(builder.op(name, std::move(more)));
    builder.enter(without);
  }
  builder.give_back(builder.op(name, std::move(handed)));
  builder.finish();
  return out;
}

Function module_stub(const std::string& key, const std::string& type) {
  Function out = stub(key, {optional_parameter("#0")});
  Builder builder(out);
  const ValueId made = builder.value(Op::kModule, type, {});
  const ValueId text = builder.constant(std::string("dtype"));
  const ValueId dtype =
      builder.op("dict_get", {{"self", builder.parameter(last_parameter(out))}, {"index", text}});
  const BlockId stated = builder.block(), after = builder.block();
  builder.branch(builder.op("defined", {{"self", dtype}}), stated, after);
  builder.enter(stated);
  builder.op("module_dtype", {{"self", made}, {"dtype", dtype}});
  builder.jump(after);
  builder.enter(after);
  builder.give_back(made);
  builder.finish();
  return out;
}

// Of a function that takes something first: an object that was made, or the context of an autograd function.
Function handing_on_stub(const std::string& key, const std::string& function, Op first,
                         const std::string& type, const std::string& attributes = "") {
  Function out = stub(key, {});
  Builder builder(out);
  const ValueId made = first == Op::kObject ? builder.value(first, type, {}) : builder.unknown();
  if (!attributes.empty()) builder.value(Op::kCall, attributes, {{"", made}});
  const ValueId result =
      function.empty()
          ? made
          : builder.value(Op::kCall, function,
                          {{"", made}, {"*", builder.parameter(1)}, {"**", builder.parameter(2)}});
  builder.give_back(first == Op::kObject ? made : result);
  builder.finish();
  return out;
}

// A function or class of a library.
std::optional<Function> library_stub(const FileUnit& unit, const std::string& name) {
  const std::string key = std::string(kStub) + name;
  if (const Api* api = unit.contract(name)) return sink_stub(key, *api);
  constexpr std::string_view kNn = "torch.nn.";
  const std::string last = name.substr(name.rfind('.') + 1);
  if (name == "einops.rearrange" || name == "einops.repeat")
    return operator_stub(key, *find_operator("flatten"), "flatten");
  if (name.starts_with(kNn) && find_module_type("torch::nn::" + last))
    return module_stub(key, "torch::nn::" + last);
  if (named_dtype(name)) return std::nullopt;  // `half` is an operator too
  const Operator* entry = torch_function(name);
  const std::string spelt = entry && find_operator(last) == entry ? last : entry ? entry->name : "";
  const bool plain = entry && !entry->arguments.empty() && entry->result != ResultRule::kDescriptor &&
                     entry->result != ResultRule::kFactory && !find_operator(spelt + ".1");
  if (!plain) return std::nullopt;
  return operator_stub(key, *entry, spelt);
}

std::optional<std::string> added(FileUnit& unit, std::optional<Function> stub) {
  if (!stub) return std::nullopt;
  std::string key = stub->key;
  unit.add_once(std::move(*stub));
  return key;
}
}  // namespace

std::optional<std::string> function_key(FileUnit& unit, const Entity& entity) {
  if (entity.kind == Entity::Kind::kLibrary) return added(unit, library_stub(unit, entity.name));
  if (entity.kind == Entity::Kind::kFunction) {
    const FunctionDefinition& function = *entity.function;
    if (function.is_opaque || (function.owner && !function.is_static)) return std::nullopt;
    return function.key;
  }
  if (entity.kind != Entity::Kind::kClass) return std::nullopt;
  const ClassDefinition& made = *entity.class_definition;
  bool complete = true;
  const FunctionDefinition* constructor = unit.modules().method(made, "__init__", &complete);
  if (made.is_opaque || (!complete && !constructor)) return std::nullopt;
  const std::string key = std::string(kStub) + "new:" + made.qualified;
  const bool has_some = has_class_attributes(made, unit.modules(), 0);
  return added(unit, handing_on_stub(key, constructor ? constructor->key : "", Op::kObject, made.qualified,
                                     has_some ? class_attributes_key(made) : ""));
}

void describe_default(FileUnit& unit, const FunctionDefinition& of, const Node& parameter,
                      flow::Parameter& out) {
  const Node given = parameter.field("value");
  const bool is_name = given && (given.is("identifier") || given.is("attribute"));
  if (!is_name || out.kind != ParameterKind::kOther || out.default_value) return;
  const auto key = function_key(unit, unit.modules().named(*of.file, std::string(given.text())));
  if (!key) return;
  out.default_value = Unknown{};
  out.type = *key;
}

ValueId FunctionLowering::closure_of(Function stub, Arguments captures) {
  const std::string key = stub.key;
  unit_.add_once(std::move(stub));
  return builder_.value(Op::kClosure, key, std::move(captures));
}

std::optional<ValueId> FunctionLowering::library_function(const std::string& name) {
  std::optional<Function> found = library_stub(unit_, name);
  return found ? std::optional(closure_of(std::move(*found), {})) : std::nullopt;
}

std::optional<ValueId> FunctionLowering::function_value(const Entity& entity) {
  const bool is_wrapped =
      entity.kind == Entity::Kind::kFunction && !entity.function->wrappers.empty() && !entity.function->owner;
  if (is_wrapped) return wrapped(*entity.function);
  const std::optional<std::string> key = function_key(unit_, entity);
  if (!key) return std::nullopt;
  Arguments held =
      entity.kind == Entity::Kind::kClass ? held_by_class(*entity.class_definition) : Arguments();
  return builder_.value(Op::kClosure, *key, std::move(held));
}

// What may stand where a function is taken: one that has a name, a method with its object, or any value.
ValueId FunctionLowering::callable(const Node& node) {
  if (const Entity entity = resolve(node)) {
    if (const auto known = function_value(entity)) return *known;
  }
  return value(node);
}

// A method of the own class with its object, as in `self.attend = self.softmax if exact else self.linear`.
std::optional<ValueId> FunctionLowering::bound_method(const std::string& name) {
  if (!own_class()) return std::nullopt;
  bool complete = true;
  const FunctionDefinition* method = unit_.modules().method(*own_class(), name, &complete);
  if (!method || method->is_property || method->is_opaque) return std::nullopt;
  if (method->is_static) return builder_.value(Op::kClosure, method->key, {});
  Function out = stub(std::string(kStub) + "method:" + name, {});
  Builder builder(out);
  builder.give_back(builder.value(Op::kCall, std::string(kAttributeCall) + name,
                                  {{"", builder.load(field_of(builder.parameter(0), "self"))},
                                   {"*", builder.parameter(1)},
                                   {"**", builder.parameter(2)}}));
  builder.finish();
  return closure_of(std::move(out), {{"self", self_}});
}

// partial(f, a, k=v): what it is called with stands behind a, and overrides k.
ValueId FunctionLowering::partial(const std::vector<Given>& arguments) {
  Arguments captures = {{"function", callable(arguments[0].node)}};
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i].name == "*" || arguments[i].name == "**") return builder_.unknown();
    captures.push_back({arguments[i].name.empty() ? "#" + std::to_string(i) : "=" + arguments[i].name,
                        value(arguments[i].node)});
  }
  const SourceRange at = arguments[0].node.range();
  Function out = stub(std::string(kStub) + "partial:" + unit_.file().scope() + "@" + std::to_string(at.line) +
                          "." + std::to_string(at.column),
                      {});
  Builder builder(out);
  const ValueId self = builder.parameter(0);
  Arguments handed;
  for (const flow::Argument& each : captures) {
    const bool named = each.name[0] == '=';
    if (!named) handed.push_back({"", builder.load(field_of(self, each.name))});
  }
  handed.push_back({"*", builder.parameter(1)});
  handed.push_back({"**", builder.parameter(2)});
  for (const flow::Argument& each : captures) {
    if (each.name[0] == '=') handed.push_back({each.name.substr(1), builder.load(field_of(self, each.name))});
  }
  builder.give_back(builder.value(Op::kCall, std::string(kAttributeCall) + "__call__", std::move(handed)));
  builder.finish();
  return closure_of(std::move(out), std::move(captures));
}

// The `apply` of an autograd function runs its forward, with a context unless the class sets that up itself.
const FunctionDefinition* FunctionLowering::autograd_forward(const Node& object) const {
  const Entity entity = resolve(object);
  if (entity.kind != Entity::Kind::kClass) return nullptr;
  std::set<std::string> bases;
  unit_.modules().library_bases(*entity.class_definition, bases);
  const bool is_autograd =
      bases.contains("torch.autograd.Function") || bases.contains("torch.autograd.function.Function");
  const FunctionDefinition* forward =
      is_autograd ? unit_.modules().method(*entity.class_definition, "forward", nullptr) : nullptr;
  return forward && forward->is_static && !forward->is_opaque ? forward : nullptr;
}

ValueId FunctionLowering::applied(const FunctionDefinition& forward, const std::vector<Given>& arguments) {
  Arguments handed;
  if (!forward.owner->method("setup_context")) handed.push_back({"", builder_.unknown()});
  for (flow::Argument& each : values(arguments)) handed.push_back(std::move(each));
  return builder_.value(Op::kCall, forward.key, std::move(handed));
}

ValueId FunctionLowering::apply_value(const FunctionDefinition& forward) {
  if (forward.owner->method("setup_context")) return builder_.value(Op::kClosure, forward.key, {});
  return closure_of(handing_on_stub(std::string(kStub) + "apply:" + forward.key, forward.key, Op::kConst, ""),
                    {});
}

}  // namespace dtype_guard::python
