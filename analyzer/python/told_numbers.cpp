#include "analyzer/python/told_numbers.h"

#include <vector>

#include "analyzer/python/signatures.h"

namespace dtype_guard::python {
namespace {
constexpr int kMaxBases = 8;
constexpr int kMaxDepth = 60;

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

// What a function binds to a name or field, in one assignment and nothing else.
class Assignments {
 public:
  Assignments(const FunctionDefinition& function, std::string_view target) : target_(target) {
    look(function.node.field("body"), 0);
  }
  bool none() const { return count_ == 0; }
  // As `if scale is None: scale = q.shape[-1] ** -0.5`, which stays what the annotation says.
  bool are_computed() const { return are_computed_; }
  Node only() const { return count_ == 1 ? value_ : Node(); }

 private:
  void add(const Node& left, const Node& value) {
    if (left.is("pattern_list") || left.is("tuple_pattern")) {
      const std::vector<Node> targets = left.children(), values = value.children();
      const bool paired = value.is("expression_list") && targets.size() == values.size();
      for (std::size_t i = 0; i < targets.size(); ++i) add(targets[i], paired ? values[i] : Node());
    } else if (left.text() == target_) {
      ++count_;
      value_ = value;
      are_computed_ = are_computed_ && is_computed(value);
    }
  }

  void look(const Node& node, int depth) {
    if (depth > kMaxDepth) return;
    for (const Node& each : node.children()) {
      if (each.is("assignment")) add(each.field("left"), each.field("right"));
      if (each.is("augmented_assignment") || each.is("for_statement")) add(each.field("left"), Node());
      if (each.is("named_expression")) add(each.field("name"), Node());
      if (each.is("as_pattern")) add(each.field("alias").child(0), Node());
      look(each, depth + 1);
    }
  }

  static bool is_computed(const Node& value) {
    return value.is("binary_operator") || value.is("unary_operator") || value.is("integer") ||
           value.is("float");
  }

  std::string_view target_;
  int count_ = 0;
  bool are_computed_ = true;
  Node value_;
};

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

// What the constructor keeps as that field, and no other method of the class replaces.
Node kept_as(std::string_view field, const FunctionDefinition& function, const Modules& modules,
             const FunctionDefinition*& constructor) {
  if (!function.owner) return {};
  constructor = modules.method(*function.owner, "__init__", nullptr);
  if (!constructor) return {};
  const std::string target = "self." + std::string(field);
  for (const auto& [name, method] : function.owner->methods) {
    if (method.get() != constructor && !Assignments(*method, target).none()) return {};
  }
  return Assignments(*constructor, target).only();
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
