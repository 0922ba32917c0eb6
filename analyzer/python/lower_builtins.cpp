// Builtin functions, and functions that are applied to each element of a display.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyzer/flow/ir/module_code.h"
#include "analyzer/python/function_lowering.h"

namespace dtype_guard::python {

using namespace flow;

// map(f, (q, k, v)): f is run on each where they stand there.
std::optional<ValueId> FunctionLowering::mapped(const std::vector<Given>& arguments) {
  if (arguments.size() < 2) return std::nullopt;
  if (arguments.size() == 2 && arguments[1].name.empty() && !displayed(arguments[1].node))
    return mapped_over(arguments[0].node, value(arguments[1].node));
  std::vector<std::vector<Node>> lists;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    auto all = displayed(arguments[i].node);
    if (!all || (!lists.empty() && all->size() != lists[0].size())) return std::nullopt;
    lists.push_back(std::move(*all));
  }
  Arguments results;
  const std::size_t outside = std::exchange(copies_, copies_ * std::max<std::size_t>(1, lists[0].size()));
  for (std::size_t i = 0; i < lists[0].size(); ++i) {
    std::vector<ValueId> handed;
    for (const auto& each : lists) handed.push_back(value(each[i]));
    results.push_back({"", apply(arguments[0].node, handed)});
  }
  copies_ = outside;
  return builder_.value(Op::kPack, "", std::move(results));
}

// Of another list, as `qkv = to_qkv(x).chunk(3)` gives it, f is run on any element.
ValueId FunctionLowering::mapped_over(const Node& function, ValueId list) {
  const ValueId made = builder_.value(Op::kPack, "", {});
  const BlockId begin = builder_.block(), after = builder_.block();
  builder_.jump(begin);
  builder_.enter(begin);
  const ValueId element = builder_.op("subscript", {{"self", list}, {"any", builder_.constant(true)}});
  Place place;
  place.base = made;
  place.path.push_back({Place::Step::Kind::kAnyCell, "", 0});
  builder_.store(std::move(place), apply(function, {element}));
  builder_.branch(builder_.op(std::string(kMoreElements), {}), begin, after);
  builder_.enter(after);
  return made;
}

// A lambda that stands there is run in place, so that each application is code of its own.
ValueId FunctionLowering::apply(const Node& function, const std::vector<ValueId>& arguments) {
  if (function.is("lambda")) {
    std::size_t at = 0;
    bool fits = true;
    std::vector<std::string> names;
    for (const Node& each : function.field("parameters").children()) {
      fits = fits && each.is("identifier");
      names.emplace_back(each.text());
    }
    if (fits && names.size() == arguments.size()) {
      ValueId out = 0;
      in_own_scope(names, [&] {
        for (const std::string& each : names) store(each, arguments[at++]);
        out = value(function.field("body"));
      });
      return out;
    }
  }
  Arguments handed;
  if (const Entity callee = resolve(function);
      callee.kind == Entity::Kind::kFunction && !callee.function->is_opaque) {
    for (const ValueId each : arguments) handed.push_back({"", each});
    return builder_.value(Op::kCall, callee.function->key, std::move(handed));
  }
  handed.push_back({"", callable(function)});
  for (const ValueId each : arguments) handed.push_back({"", each});
  return builder_.value(Op::kCall, std::string(kAttributeCall) + "__call__", std::move(handed));
}

// isinstance(x, (list, tuple)), callable(x): the kind of things that are asked for; empty: none that has a
// name.
std::string FunctionLowering::kind_asked(const std::string& test, const std::vector<Given>& arguments) const {
  if (test == "callable" && arguments.size() == 1) return "function";
  if (test != "isinstance" || arguments.size() != 2) return "";
  static const std::map<std::set<std::string>, std::string> kinds = {{{"torch.Tensor"}, "tensor"},
                                                                     {{"int", "float"}, "number"},
                                                                     {{"int"}, "whole"},
                                                                     {{"float"}, "real"},
                                                                     {{"str"}, "text"},
                                                                     {{"list", "tuple"}, "sequence"},
                                                                     {{"list"}, "list"},
                                                                     {{"tuple"}, "tuple"},
                                                                     {{"dict"}, "dictionary"}};
  const Node of = arguments[1].node;
  std::set<std::string> asked;
  for (const Node& each : of.is("tuple") ? std::vector<Node>(of.children()) : std::vector<Node>{of}) {
    const Entity entity = resolve(each);
    asked.insert(entity.kind == Entity::Kind::kLibrary ? entity.name : std::string(each.text()));
  }
  const auto found = kinds.find(asked);
  return found == kinds.end() ? "" : found->second;
}

// isinstance(x, Cache), of a class whose source is read.
const ClassDefinition* FunctionLowering::class_asked(const std::string& test,
                                                     const std::vector<Given>& arguments) const {
  if (test != "isinstance" || arguments.size() != 2) return nullptr;
  const Entity entity = resolve(arguments[1].node);
  const bool is_class = entity.kind == Entity::Kind::kClass && !entity.class_definition->is_opaque;
  return is_class ? entity.class_definition : nullptr;
}

// str(q.dtype), len({q.dtype, k.dtype}): what it answers hangs on these dtypes, in a way that is not
// followed.
std::optional<ValueId> FunctionLowering::asked_of_dtypes(const std::string& name,
                                                         const std::vector<Given>& arguments) {
  static const std::set<std::string_view> asking = {"str", "repr", "len", "set", "frozenset"};
  if (!asking.contains(name) || arguments.size() != 1) return std::nullopt;
  const Node of = arguments[0].node;
  const auto is_dtype = [](const Node& each) {
    return each.is("attribute") && each.field("attribute").text() == "dtype";
  };
  const auto all = of.is("set") ? of.children() : displayed(of).value_or(std::vector<Node>{of});
  if (all.empty() || !std::all_of(all.begin(), all.end(), is_dtype)) return std::nullopt;
  Arguments dtypes;
  for (const Node& each : all) dtypes.push_back({"", value(each)});
  return builder_.value(Op::kCall, "?" + name, std::move(dtypes));
}

// setattr(x, "name", v), as x.name = v.
std::optional<ValueId> FunctionLowering::set_by_name(const std::vector<Given>& arguments) {
  if (arguments.size() != 3 || !arguments[0].name.empty()) return std::nullopt;
  const auto field = field_named(arguments[1].node);
  if (!field) return std::nullopt;
  assign_field(arguments[0].node, *field, callable(arguments[2].node));
  return builder_.none();
}

std::optional<ValueId> FunctionLowering::builtin(const std::string& name,
                                                 const std::vector<Given>& arguments) {
  static const std::set<std::string_view> whole = {"int", "len", "round", "ord", "hash", "id"};
  static const std::set<std::string_view> tests = {"isinstance", "hasattr", "callable", "issubclass",
                                                   "bool",       "any",     "all"};
  static const std::set<std::string_view> harmless = {"print", "str",    "repr",   "type",  "range",    "sum",
                                                      "abs",   "set",    "divmod", "vars",  "open",     "max",
                                                      "min",   "filter", "format", "input", "frozenset"};
  const auto number = [&](Dtype dtype) {
    Arguments from = {{"dtype", dtype_constant(dtype)}};
    const bool counts = name == "len" && arguments.size() == 1;
    for (const Given& each : arguments) from.push_back({counts ? "length" : "", value(each.node)});
    return builder_.value(Op::kAlloc, "number", std::move(from));
  };
  if (const auto out = asked_of_dtypes(name, arguments)) return *out;
  if (const auto out = of_iterable(name, arguments)) return out;
  if (name == "map") {
    if (const auto out = mapped(arguments)) return out;
    values(arguments);
    return builder_.unknown();
  }
  if ((name == "zip" || name == "enumerate") && !arguments.empty())
    return list_of(element_in_turn(name, arguments, values_of(arguments)));
  if (whole.contains(name)) return number(Dtype::kInt64);
  if (name == "float") return number(Dtype::kFloat64);
  if ((name == "list" || name == "tuple") && arguments.size() == 1 && arguments[0].name.empty())
    return builder_.op("copy_of", {{"", value(arguments[0].node)}});
  if ((name == "list" || name == "tuple") && arguments.empty()) return builder_.value(Op::kPack, "", {});
  if (name == "dict") return made_dictionary(arguments);
  if (name == "getattr" && arguments.size() >= 2 && arguments.size() <= 3) {
    const auto field = field_named(arguments[1].node);
    const Entity of = resolve(arguments[0].node);
    if (of.kind == Entity::Kind::kLibrary && of.name == "torch")
      return builder_.op("dtype_named", {{"", value(arguments[1].node)}});
    if (field && is_self(arguments[0].node)) {
      if (const auto bound = bound_method(*field)) return *bound;
    }
    const ValueId object = value(arguments[0].node);
    if (!field) {
      for (std::size_t i = 1; i < arguments.size(); ++i) value(arguments[i].node);
      return builder_.unknown();
    }
    if (arguments.size() == 3) return attribute_by_name(object, *field, arguments[2].node);
    Place place;
    place.base = object;
    place.path.push_back({Place::Step::Kind::kField, *field, 0});
    return builder_.load(std::move(place));
  }
  if (tests.contains(name)) {
    const auto field = name == "hasattr" && arguments.size() == 2 ? literal(arguments[1].node) : std::nullopt;
    if (field)
      return builder_.op("attribute_has",
                         {{"self", value(arguments[0].node)}, {"index", builder_.constant(*field)}});
    const std::string kind = kind_asked(name, arguments);
    if (!kind.empty()) return builder_.op("python::is_" + kind, {{"", value(arguments[0].node)}});
    if (const ClassDefinition* of = class_asked(name, arguments))
      return builder_.op(std::string(kIsInstance) + of->qualified, {{"", value(arguments[0].node)}});
    Arguments of;
    for (const Given& each : arguments) {
      if (!of.empty() && name == "isinstance") continue;  // the class is in the text
      of.push_back({"", value(each.node)});
    }
    return builder_.op("python::" + name, std::move(of));
  }
  if (harmless.contains(name)) {
    values(arguments);
    return builder_.unknown();
  }
  if (const auto set = name == "setattr" ? set_by_name(arguments) : std::nullopt) return set;
  if (name == "setattr" || name == "delattr") return unknown_call(name, std::nullopt, arguments);
  return std::nullopt;
}

}  // namespace dtype_guard::python
