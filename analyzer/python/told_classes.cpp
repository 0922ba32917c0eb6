#include "analyzer/python/told_classes.h"

#include "analyzer/python/function_lowering.h"

namespace dtype_guard::python {
namespace {
constexpr int kMaxDepth = 60;

void add_annotated(const Node& node, std::string_view self, std::string_view field, int depth,
                   std::vector<Node>& out) {
  if (depth > kMaxDepth || node.is("function_definition") || node.is("lambda")) return;
  const Node left = node.is("assignment") && node.field("type") ? node.field("left") : Node();
  const bool is_own = left.is("attribute") && left.field("object").text() == self;
  if (is_own && left.field("attribute").text() == field) out.push_back(node);
  for (const Node& each : node.children()) add_annotated(each, self, field, depth + 1, out);
}
}  // namespace

std::string told_class(std::string_view field, const ClassDefinition& of, const Modules& modules) {
  std::vector<Node> annotated;
  for (const Node& each : of.fields) {
    if (each.field("left").text() == field) annotated.push_back(each);
  }
  if (const FunctionDefinition* constructor = of.method("__init__"))
    add_annotated(constructor->node.field("body"), first_parameter(constructor->node), field, 0, annotated);
  std::string out;
  for (const Node& each : annotated) {
    const flow::Parameter said = describe_field(of, each, modules);
    if (said.kind != flow::ParameterKind::kObject || (!out.empty() && out != said.type)) return {};
    out = said.type;
  }
  return out;
}

}  // namespace dtype_guard::python
