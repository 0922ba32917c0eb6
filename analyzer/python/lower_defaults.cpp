// What a call hands over that stands at the callee: partial applications that are defaults of its parameters,
// and the decorators of the project that make something else of a function.
#include <algorithm>

#include "analyzer/python/function_lowering.h"

namespace dtype_guard::python {

using namespace flow;

namespace {
constexpr int kMaxNested = 4;

std::string_view name_of(const Node& parameter) {
  const Node name = parameter.field("name");
  return name ? name.text() : parameter.text();
}
}  // namespace

// A partial application that stands as a default; names of functions and classes are their parameter's type.
std::optional<ValueId> FunctionLowering::default_function(const Node& written, const SourceFile& file) {
  if (global_depth_ >= kMaxNested || !written.is("call") || !makes_function(written, file))
    return std::nullopt;
  const SourceFile* before = std::exchange(global_file_, &file);
  ++global_depth_;
  const ValueId out = callable(written);
  --global_depth_;
  global_file_ = before;
  return out;
}

void FunctionLowering::add_defaults(const FunctionDefinition& callee, const std::vector<Given>& arguments,
                                    Arguments& handed) {
  std::size_t positions = 0, index = 0;
  for (const Given& each : arguments) {
    if (each.name == "*" || each.name == "**") return;
    positions += each.name.empty() ? 1 : 0;
  }
  bool self = callee.owner && !callee.is_static, by_name = false;
  for (const Node& each : callee.node.field("parameters").children()) {
    by_name = by_name || each.is("keyword_separator") || each.is("list_splat_pattern");
    if (std::exchange(self, false) || each.is("keyword_separator") || each.is("positional_separator"))
      continue;
    const bool by_position = !by_name && index++ < positions;
    const Node written = each.field("value");
    if (by_position || !written) continue;
    const std::string_view name = name_of(each);
    const bool given = std::any_of(arguments.begin(), arguments.end(),
                                   [&](const Given& argument) { return argument.name == name; });
    if (given || (callee.owner && callee.owner->attributes.contains(written.text()))) continue;
    if (const auto known = default_function(written, *callee.file))
      handed.push_back({std::string(name), *known});
  }
}

// What the decorators of the project make of a function, each run as the call that it is.
ValueId FunctionLowering::wrapped(const FunctionDefinition& function) {
  if (global_depth_ >= kMaxNested) return builder_.unknown();
  const SourceFile* before = std::exchange(global_file_, function.file);
  ++global_depth_;
  ValueId out = builder_.value(Op::kClosure,
                               function.decorates_method() ? function_of_method(function) : function.key, {});
  for (auto each = function.wrappers.rbegin(); each != function.wrappers.rend(); ++each) {
    const Node what = each->child(0);
    const Node name = what.is("call") ? what.field("function") : what;
    const Entity decorator = resolve(name);
    if (decorator.kind != Entity::Kind::kFunction || decorator.function->is_opaque) {
      out = builder_.unknown();
    } else if (what.is("call")) {
      const ValueId made = call_entity(decorator, name, given(what));
      out = builder_.value(Op::kCall, std::string(kAttributeCall) + "__call__", {{"", made}, {"", out}});
    } else {
      out = builder_.value(Op::kCall, decorator.function->key, {{"", out}});
    }
  }
  --global_depth_;
  global_file_ = before;
  return out;
}

std::string undecorated_key(const FunctionDefinition& method) { return "undecorated::" + method.key; }

// A method as decorators are handed it: a function that takes the object first.
std::string FunctionLowering::function_of_method(const FunctionDefinition& method) {
  Function out;
  out.key = "function_of::" + method.key;
  out.name = method.owner->name + "." + method.name + ".<function>";
  out.kind = FunctionKind::kLambda;
  out.external = false;
  out.range = method.node.field("name").range();
  Builder builder(out);
  out.parameters.resize(3);
  out.parameters[0].name = "self";
  out.parameters[1].name = "args";
  out.parameters[1].rest = Rest::kPositional;
  out.parameters[2].name = "kwargs";
  out.parameters[2].rest = Rest::kKeywords;
  const ValueId object = builder.parameter(1), positions = builder.parameter(2), names = builder.parameter(3);
  builder.give_back(
      builder.value(Op::kCall, undecorated_key(method), {{"", object}, {"*", positions}, {"**", names}}));
  builder.finish();
  const std::string key = out.key;
  unit_.add_once(std::move(out));
  return key;
}

// What stands in the class: what its decorators make of the method, run with what the method is handed.
Function FunctionLowering::run_decorated() {
  head();
  const Builder::At at(builder_, Builder::Position{function_.range, definition_.name});
  const ValueId object = builder_.parameter(0);
  const ValueId made = wrapped(definition_);
  Arguments handed = {{"", made}, {"", object}};
  bool first = true, by_name = false;
  for (const Node& each : definition_.node.field("parameters").children()) {
    by_name = by_name || each.is("keyword_separator");
    if (each.is("keyword_separator") || each.is("positional_separator") || std::exchange(first, false))
      continue;
    function_.parameters.push_back(describe_parameter(definition_, each, unit_.modules()));
    Parameter& parameter = function_.parameters.back();
    describe_module(definition_, each, unit_.modules(), parameter);
    describe_default(unit_, definition_, each, parameter);
    by_name = by_name || parameter.rest == Rest::kPositional;
    const std::string name = parameter.rest == Rest::kPositional ? "*"
                             : parameter.rest == Rest::kKeywords ? "**"
                             : by_name                           ? parameter.name
                                                                 : "";
    handed.push_back({name, builder_.parameter(static_cast<int>(function_.parameters.size()))});
  }
  builder_.give_back(builder_.value(Op::kCall, std::string(kAttributeCall) + "__call__", std::move(handed)));
  builder_.finish();
  return std::move(function_);
}

// It has its own methods, whatever a base that is not in sight makes of it.
ValueId FunctionLowering::made_by_unseen_base(const ClassDefinition& callee, Arguments handed) {
  const ValueId made = builder_.value(Op::kObject, callee.qualified, {});
  handed.insert(handed.begin(), {"", made});
  builder_.value(Op::kCall, "?" + callee.qualified + ".__init__", std::move(handed));
  return made;
}

}  // namespace dtype_guard::python
