#include "analyzer/python/told_numbers.h"

#include <vector>

#include "analyzer/python/kept_fields.h"
#include "analyzer/python/signatures.h"

namespace dtype_guard::python {
namespace {
constexpr int kMaxBases = 8;

// "int" or "float"; empty where it may be something else than a number or None.
std::string by_type(const Node& type) {
  std::string out;
  for (const std::string& each : parts_of_type(type)) {
    if (each == "float" || (each == "int" && out.empty())) {
      out = each;
    } else if (each != "int" && each != "None") {
      return {};
    }
  }
  return out;
}

std::string by_value(const Node& value) {
  return value.is("integer") ? "int" : value.is("float") ? "float" : "";
}

std::string by_type_or_value(const Node& type, const Node& value) {
  return type ? by_type(type) : by_value(value);
}

Node parameter_named(const FunctionDefinition& function, std::string_view name) {
  for (const Node& each : function.node.field("parameters").children()) {
    const Node spelt = written_name(each);
    if (spelt.is("identifier") && spelt.text() == name) return each;
  }
  return {};
}

// A default is no promise: a module's `scale=1.0` may be handed a tensor. Configurations hold what files do.
std::string of_parameter(const FunctionDefinition& function, std::string_view name, bool by_default) {
  const Node parameter = parameter_named(function, name);
  const Node type = parameter ? parameter.field("type") : Node();
  const Assignments assignments(function, name);
  if (!parameter || !(assignments.none() || (type && assignments.are_computed()))) return {};
  return type || by_default ? by_type_or_value(type, parameter.field("value")) : std::string();
}

std::string of_field(const ClassDefinition& of, std::string_view field, const Modules& modules, int depth) {
  if (depth > kMaxBases) return {};
  for (const Node& each : of.fields) {
    if (each.field("left").text() == field) return by_type_or_value(each.field("type"), each.field("right"));
  }
  if (const FunctionDefinition* constructor = of.method("__init__")) {
    const Node kept = Assignments(*constructor, "self." + std::string(field)).only();
    if (kept.is("identifier")) return of_parameter(*constructor, kept.text(), !modules.is_module(of));
  }
  for (const BaseClass& each : modules.bases(of)) {
    if (!each.definition) continue;
    if (std::string found = of_field(*each.definition, field, modules, depth + 1); !found.empty())
      return found;
  }
  return {};
}

const ClassDefinition* class_of_parameter(const FunctionDefinition& function, std::string_view name,
                                          const Modules& modules) {
  const Node parameter = parameter_named(function, name);
  if (!parameter.field("type") || !Assignments(function, name).none()) return nullptr;
  std::vector<std::string> parts = parts_of_type(parameter.field("type"));
  std::erase(parts, "None");
  if (parts.size() != 1) return nullptr;
  const Entity known = modules.named(*function.file, parts.front());
  return known.kind == Entity::Kind::kClass ? known.class_definition : nullptr;
}

std::string of_attribute(const Node& attribute, const FunctionDefinition& function, const Modules& modules,
                         int depth) {
  const Node object = attribute.field("object");
  const std::string_view field = attribute.field("attribute").text();
  const ClassDefinition* of = nullptr;
  const FunctionDefinition* constructor = nullptr;
  if (object.is("identifier") && object.text() != "self") {
    of = class_of_parameter(function, object.text(), modules);
  } else if (object.is("attribute") && object.field("object").text() == "self") {
    const Node kept = kept_as(object.field("attribute").text(), function, modules, constructor);
    if (kept.is("identifier")) of = class_of_parameter(*constructor, kept.text(), modules);
  } else if (object.text() == "self" && depth == 0) {
    const Node kept = kept_as(field, function, modules, constructor);
    if (kept.is("identifier")) return of_parameter(*constructor, kept.text(), false);
    if (kept.is("attribute")) return of_attribute(kept, *constructor, modules, depth + 1);
  }
  return of ? of_field(*of, field, modules, 0) : std::string();
}
}  // namespace

std::string told_number(const Node& name, const FunctionDefinition& function, const Modules& modules) {
  if (name.is("identifier")) return of_parameter(function, name.text(), false);
  return name.is("attribute") ? of_attribute(name, function, modules, 0) : std::string();
}

}  // namespace dtype_guard::python
