// What a name or dotted expression means, where that does not hang on what runs.
#include <algorithm>

#include "analyzer/python/function_lowering.h"
#include "analyzer/python/signatures.h"

namespace dtype_guard::python {

namespace {
constexpr int kMaxParts = 40;  // of a dotted name
constexpr int kMaxDepth = 60;

bool has_name(const Node& node, std::string_view name, int depth) {
  if (depth > kMaxDepth || (node.is("identifier") && node.text() == name)) return true;
  const std::vector<Node> all = node.children();
  return std::any_of(all.begin(), all.end(),
                     [&](const Node& each) { return has_name(each, name, depth + 1); });
}

bool uses_its_class(const FunctionDefinition& method) {
  const Node first = written_name(method.node.field("parameters").child(0));
  const Node body = method.node.field("body");
  return !first.is("identifier") || has_name(body, first.text(), 0) || has_name(body, "super", 0);
}
}  // namespace

bool FunctionLowering::is_self(const Node& node) const {
  return !global_file_ && node.is("identifier") && !self_name_.empty() && node.text() == self_name_;
}

// `cls` of a class method: of what derives from the class it makes such an object too.
bool FunctionLowering::is_own_class(const std::string& name) const {
  const auto assigned = assigned_.find(name);
  return own_class() && !class_parameter_.empty() && name == class_parameter_ &&
         assigned != assigned_.end() && assigned->second.size() == 1;
}

bool FunctionLowering::stands_for_layers(const std::string& name) {
  if (global_file_ || name == self_name_) return false;
  const auto assigned = assigned_.find(name);
  const bool is_parameter =
      std::any_of(function_.parameters.begin(), function_.parameters.end(), [&](const flow::Parameter& each) {
        const bool is_open = each.kind == flow::ParameterKind::kOther && each.rest == flow::Rest::kNone;
        return each.name == name && is_open;
      });
  if (!is_parameter || assigned == assigned_.end()) return false;
  // Of a parameter the first is none.
  for (const Node& source : assigned->second) {
    if (!source) continue;
    const bool is_choice = source.is("boolean_operator") || source.is("conditional_expression");
    if (!is_choice || source.text().find(name) == std::string_view::npos) return false;
  }
  const auto known = layer_namespaces_.find(name);
  if (known != layer_namespaces_.end()) return known->second;
  return layer_namespaces_[name] = is_layer_namespace(name, definition_, unit_.modules());
}

Entity FunctionLowering::resolve(const Node& node, int depth) const {
  if (depth > kMaxParts) return {};
  if (node.is("identifier")) {
    const std::string name(node.text());
    if (global_file_) return unit_.modules().global(*global_file_, name);
    for (const FunctionLowering* scope = this; scope; scope = scope->outer_) {
      if (const auto found = scope->local_imports_.find(name);
          found != scope->local_imports_.end() && !scope->locals_.contains(name))
        return unit_.modules().dotted(unit_.file(), found->second);
      if (!scope->locals_.contains(name)) continue;
      if (scope->is_own_class(name)) {
        Entity own;
        own.kind = Entity::Kind::kClass;
        own.class_definition = scope->own_class();
        own.file = &unit_.file();
        return own;
      }
      // A name that is given one thing only stands for it: `attention = flash_attn_func`.
      const auto assigned = scope->assigned_.find(name);
      if (scope != this || assigned == scope->assigned_.end() || assigned->second.size() != 1) return {};
      const Node source = assigned->second.front();
      const bool plain = source.is("identifier") || source.is("attribute");
      if (!plain || source.text() == name) return {};
      Entity meant = scope->resolve(source, depth + 1);
      return meant.kind == Entity::Kind::kValue ? Entity{} : meant;
    }
    return unit_.modules().global(unit_.file(), name);
  }
  if (node.is("parenthesized_expression")) return resolve(node.child(0), depth + 1);
  if (!node.is("attribute")) return {};
  const Entity object = resolve(node.field("object"), depth + 1);
  const std::string name(node.field("attribute").text());
  if (object.kind == Entity::Kind::kLibrary) {
    const SourceFile& from = global_file_ ? *global_file_ : unit_.file();
    Entity out = unit_.modules().dotted(from, object.name + "." + name);
    out.optional = out.optional.empty() ? object.optional : out.optional;
    return out;
  }
  if (object.kind == Entity::Kind::kClass) {
    Entity out;
    out.function = unit_.modules().method(*object.class_definition, name, nullptr);
    // A class method makes objects of the class that it is called on.
    const FunctionDefinition* method = out.function;
    const bool is_bound = method && method->is_class_method &&
                          (method->owner == object.class_definition || !uses_its_class(*method));
    if (method && (method->is_static || is_bound)) out.kind = Entity::Kind::kFunction;
    return out;
  }
  return {};
}

}  // namespace dtype_guard::python
