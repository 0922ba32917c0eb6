// Names that are bound several times: `attend = flash if there is one, else sdpa`, by branches of the module;
// and names that functions bind, by `global flash_attn_func` and an import that is made when it is first
// used; and what such a binding means.
#include <algorithm>
#include <set>

#include "analyzer/python/modules.h"

namespace dtype_guard::python {
namespace {
constexpr int kMaxDepth = 60;
constexpr std::size_t kMaxChoices = 8;

// Names that a function binds itself, where they are not declared global.
struct Bound {
  std::set<std::string> global, own;
  std::map<std::string, std::string> imports;
};

void names_of(const Node& target, std::set<std::string>& out, int depth) {
  if (depth > kMaxDepth) return;
  if (target.is("identifier")) out.insert(std::string(target.text()));
  if (target.is("attribute") || target.is("subscript")) return;
  for (const Node& each : target.children()) names_of(each, out, depth + 1);
}

void look(const SourceFile& file, const Node& node, Bound& out, int depth) {
  if (depth > kMaxDepth) return;
  for (const Node& each : node.children()) {
    if (each.is("global_statement")) {
      for (const Node& name : each.children()) out.global.insert(std::string(name.text()));
    } else if (each.is("import_statement") || each.is("import_from_statement")) {
      for (const auto& [name, what] : file.imports(each)) out.imports[name] = what;
    } else if (each.is("assignment") || each.is("augmented_assignment") || each.is("for_statement") ||
               each.is("for_in_clause")) {
      names_of(each.field("left"), out.own, 0);
    } else if (each.is("as_pattern_target") || each.is("parameters")) {
      names_of(each, out.own, 0);
    }
    look(file, each, out, depth + 1);
  }
}

// What `name` is given where that is assigned to this: of a tuple its part, or that of what a call gives.
std::pair<Node, int> assigned(const Node& target, const Node& value, std::string_view name) {
  if (target.is("identifier")) return {value, -1};
  if (!target.is("pattern_list") && !target.is("tuple_pattern")) return {};
  const std::vector<Node> names(target.children().begin(), target.children().end());
  const auto at = std::find_if(names.begin(), names.end(), [&](const Node& each) {
    return each.is("identifier") && each.text() == name;
  });
  const bool is_starred =
      std::any_of(names.begin(), names.end(), [](const Node& each) { return each.is("list_splat_pattern"); });
  if (at == names.end() || is_starred) return {};
  const auto index = static_cast<int>(at - names.begin());
  if (value.is("call")) return {value, index};
  const bool is_display = value.is("expression_list") || value.is("tuple");
  const bool is_even = is_display && value.children().size() == names.size();
  return is_even ? std::pair(value.child(static_cast<std::size_t>(index)), -1) : std::pair(Node(), -1);
}

void returns_of(const Node& node, std::vector<Node>& out, int depth) {
  if (depth > kMaxDepth) return;
  for (const Node& each : node.children()) {
    if (each.is("function_definition") || each.is("lambda")) continue;
    if (each.is("return_statement")) out.push_back(each.child(0));
    returns_of(each, out, depth + 1);
  }
}

// What means the same wherever it stands: a constant, or a name that the function does not bind.
bool is_of_module(const Node& value, const Bound& bound) {
  static const std::set<std::string_view> constants = {"integer", "float", "string", "true", "false"};
  if (constants.contains(value.kind())) return true;
  Node first = value;
  while (first.is("attribute")) first = first.field("object");
  const std::string name(first.text());
  return first.is("identifier") && !bound.imports.contains(name) &&
         (!bound.own.contains(name) || bound.global.contains(name));
}
}  // namespace

// What stands behind all branches is what counts from there on; but not where it is made of what was before.
void SourceFile::note(Global& global, Binding binding, Where where) {
  if (where == Where::kTop) global.bindings.clear();
  global.is_open =
      where == Where::kOther || (where == Where::kTry && global.is_open) ||
      (!binding.value && !binding.function && !binding.class_definition && binding.imported.empty());
  global.bindings.push_back(std::move(binding));
}

bool SourceFile::gives_import(const Node& call, int element) const {
  const Node callee = call.is("call") ? call.field("function") : Node();
  const Global* found = callee && callee.is("identifier") ? global(callee.text()) : nullptr;
  if (!found || !found->function || found->rebound || found->function->is_opaque) return false;
  Bound bound;
  look(*this, found->function->node, bound, 0);
  std::vector<Node> returns;
  returns_of(found->function->node.field("body"), returns, 0);
  return !returns.empty() && std::all_of(returns.begin(), returns.end(), [&](Node given) {
    if (element >= 0) {
      const bool is_display = given && (given.is("expression_list") || given.is("tuple"));
      given = is_display ? given.child(static_cast<std::size_t>(element)) : Node();
    }
    return given && given.is("identifier") && bound.imports.contains(std::string(given.text()));
  });
}

void SourceFile::bind_in_functions(const Node& block, int depth) {
  if (depth > kMaxDepth) return;
  for (const Node& each : block.children()) {
    if (!each.is("function_definition")) {
      bind_in_functions(each, depth + 1);
    } else if (each.text().find("global ") != std::string_view::npos) {
      bind_in_function(each);
    }
  }
}

void SourceFile::bind_in_function(const Node& function) {
  Bound bound;
  look(*this, function, bound, 0);
  for (const std::string& name : bound.global) {
    const auto found = globals_.find(name);
    if (found == globals_.end()) continue;
    Global& global = found->second;
    std::vector<Binding> all;
    bool is_open = false;
    if (const auto import = bound.imports.find(name); import != bound.imports.end())
      all.push_back({import->second, nullptr, nullptr, Node()});
    std::vector<Node> work = {function};
    while (!work.empty()) {
      const Node node = work.back();
      work.pop_back();
      for (const Node& each : node.children()) {
        work.push_back(each);
        std::set<std::string> targets;
        const bool assigns = each.is("assignment") && each.field("right");
        if (assigns || each.is("augmented_assignment") || each.is("for_statement"))
          names_of(each.field("left"), targets, 0);
        if (each.is("as_pattern_target")) names_of(each, targets, 0);
        if (!targets.contains(name)) continue;
        const auto [value, element] =
            assigns ? assigned(each.field("left"), each.field("right"), name) : std::pair(Node(), -1);
        const auto import = value ? bound.imports.find(std::string(value.text())) : bound.imports.end();
        if (value.is("none")) {
          global.optional = true;
        } else if (import != bound.imports.end()) {
          all.push_back({import->second, nullptr, nullptr, Node()});
        } else if (value && element < 0 && is_of_module(value, bound)) {
          all.push_back({"", nullptr, nullptr, value});
        } else if (value && gives_import(value, element)) {
          all.push_back({"", nullptr, nullptr, value, element});
        } else {
          is_open = true;
        }
      }
    }
    if (all.empty() && !is_open) continue;
    // An import that is made late is one, wherever it is made.
    const bool is_import = !is_open && global.bindings.empty() && global.imported.empty() &&
                           !global.rebound && all.size() == 1 && !all.front().imported.empty();
    if (is_import) global.imported = all.front().imported;
    global.rebound = !is_import;
    global.is_open = global.is_open || is_open;
    global.bindings.insert(global.bindings.end(), all.begin(), all.end());
  }
}

Entity Modules::meaning(const SourceFile& file, std::string_view name, const Binding& bound,
                        int depth) const {
  Entity out;
  const bool whole = bound.element < 0;
  if (!bound.imported.empty()) {
    out = dotted(file, bound.imported, depth + 1);
  } else if (bound.function) {
    out.kind = Entity::Kind::kFunction;
    out.function = bound.function;
  } else if (bound.class_definition) {
    out.kind = Entity::Kind::kClass;
    out.class_definition = bound.class_definition;
  } else if (bound.value) {
    if (whole) out = alias(file, bound.value, depth + 1);
    if (!out) {
      out.kind = Entity::Kind::kValue;
      out.name = file.module() + "." + std::string(name);
      out.value = bound.value;
      out.element = bound.element;
    }
  }
  out.file = out.file ? out.file : &file;
  return out;
}

Entity Modules::choice(const SourceFile& file, std::string_view name, const Global& global, int depth) const {
  if (global.is_open || global.bindings.empty() || global.bindings.size() > kMaxChoices) return {};
  Entity out;
  for (const Binding& each : global.bindings) {
    // `f = torch.compile(f)`: what it was before is not told from what it is.
    if (each.value && each.value.text().find(name) != std::string_view::npos) return {};
    Entity one = meaning(file, name, each, depth + 1);
    if (!one) return {};
    out.choices.push_back(std::move(one));
  }
  if (out.choices.size() == 1 && !global.optional) return out.choices.front();
  out.kind = Entity::Kind::kChoice;
  out.name = file.module() + "." + std::string(name);
  out.optional = global.optional ? out.name : "";
  out.file = &file;
  return out;
}

}  // namespace dtype_guard::python
