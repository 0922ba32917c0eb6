#include "analyzer/python/module_code.h"

#include <algorithm>

#include "analyzer/flow/ir/module_code.h"

namespace dtype_guard::python {

bool is_definition(const Node& node) {
  return node.is("function_definition") || node.is("class_definition") || node.is("decorated_definition");
}

namespace {
constexpr int kMaxDepth = 60;

// Whether anything is called there outside of functions: without, names are bound and nothing more.
bool calls_something(const Node& node, int depth) {
  if (depth > kMaxDepth || is_definition(node) || node.is("lambda")) return false;
  if (node.is("call")) return true;
  const auto all = node.children();
  return std::any_of(all.begin(), all.end(),
                     [&](const Node& each) { return calls_something(each, depth + 1); });
}

}  // namespace

std::unique_ptr<FunctionDefinition> module_code(const SourceFile& file) {
  const Node root = file.tree().root();
  if (!root || file.is_installed || root.has_error() || !file.cell_errors.empty() ||
      !calls_something(root, 0))
    return nullptr;
  auto out = std::make_unique<FunctionDefinition>();
  out->node = root;
  out->name = flow::kModuleCode;
  out->key = "py:" + file.scope() + "." + out->name;
  out->file = &file;
  return out;
}

}  // namespace dtype_guard::python
