#include "analyzer/python/kept_fields.h"

#include <algorithm>
#include <string>
#include <vector>

namespace dtype_guard::python {
namespace {
constexpr int kMaxDepth = 60;

bool is_computed(const Node& value) {
  return value.is("binary_operator") || value.is("unary_operator") || value.is("integer") ||
         value.is("float");
}
}  // namespace

Assignments::Assignments(const FunctionDefinition& function, std::string_view target) : target_(target) {
  look(function.node.field("body"), 0);
}

void Assignments::add(const Node& left, const Node& value) {
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

void Assignments::look(const Node& node, int depth) {
  if (depth > kMaxDepth) return;
  for (const Node& each : node.children()) {
    if (each.is("assignment")) add(each.field("left"), each.field("right"));
    if (each.is("augmented_assignment") || each.is("for_statement")) add(each.field("left"), Node());
    if (each.is("named_expression")) add(each.field("name"), Node());
    if (each.is("as_pattern")) add(each.field("alias").child(0), Node());
    look(each, depth + 1);
  }
}

namespace {
void add_placeholders(const Node& node, std::string_view self, int depth, std::vector<std::string>& out) {
  if (depth > kMaxDepth || node.is("function_definition") || node.is("lambda")) return;
  const Node left = node.is("assignment") ? node.field("left") : Node();
  const Node right = node.is("assignment") ? node.field("right") : Node();
  const bool is_own = left.is("attribute") && left.field("object").text() == self;
  if (is_own && (right.is("none") || right.is("true") || right.is("false"))) {
    const std::string field(left.field("attribute").text());
    if (std::find(out.begin(), out.end(), field) == out.end()) out.push_back(field);
  }
  for (const Node& each : node.children()) add_placeholders(each, self, depth + 1, out);
}
}  // namespace

std::vector<std::string> placeholders_of(const ClassDefinition& of) {
  std::vector<std::string> out;
  const FunctionDefinition* constructor = of.method("__init__");
  if (constructor)
    add_placeholders(constructor->node.field("body"), first_parameter(constructor->node), 0, out);
  return out;
}

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

}  // namespace dtype_guard::python
