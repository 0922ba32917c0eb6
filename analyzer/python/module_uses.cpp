// Modules that a function is handed without being told their class: `def __call__(self, attn,
// hidden_states)`, `def apply_rotary(module, x)`. Where the body calls what exactly one class of the file
// has, it is one of that class.
#include <algorithm>
#include <map>
#include <set>

#include "analyzer/flow/settings/module_types.h"
#include "analyzer/python/function_lowering.h"

namespace dtype_guard::python {
namespace {
constexpr int kMaxDepth = 60;
constexpr std::size_t kFewest = 3;        // attributes that tell a class
constexpr std::size_t kFewestCalled = 2;  // of them modules, which the body calls

// Attributes of the parameter, and whether they are called.
class AttributeUses {
 public:
  AttributeUses(const FunctionDefinition& function, const Modules& modules)
      : function_(function), modules_(modules) {}
  std::map<std::string_view, bool> all;
  bool is_other = false;  // also assigned, or used as what no module is

  void look_for(std::string_view name) {
    name_ = name;
    look(function_.node.field("body"), 0);
  }

 private:
  void look(const Node& node, int depth) {
    if (depth > kMaxDepth) return;
    for (const Node& each : node.children()) {
      if (each.is("attribute") && is_it(each.field("object"))) {
        bool& called = all[each.field("attribute").text()];
        called = called || (node.is("call") && node.field("function").begin() == each.begin() &&
                            node.field("function").end() == each.end());
        continue;
      }
      const bool assigns =
          each.is("assignment") || each.is("augmented_assignment") || each.is("for_statement");
      is_other = is_other || (assigns && is_it(each.field("left"))) ||
                 (each.is("subscript") && is_it(each.field("value"))) ||
                 (each.is("binary_operator") && (is_it(each.field("left")) || is_it(each.field("right"))));
      if (each.is("call")) hand_on(each);
      look(each, depth + 1);
    }
  }

  // What a function of the same module does with it, where it is handed on by position.
  void hand_on(const Node& call) {
    const Entity callee = modules_.global(*function_.file, call.field("function").text());
    if (callee.kind != Entity::Kind::kFunction || callee.function == &function_ || handed_on_) return;
    std::size_t at = 0;
    for (const Node& each : call.field("arguments").children()) {
      if (each.is("keyword_argument") || each.is("list_splat") || each.is("dictionary_splat")) return;
      const Node parameter = callee.function->node.field("parameters").child(at++);
      if (!is_it(each)) continue;
      if (!parameter.is("identifier")) return;
      AttributeUses there(*callee.function, modules_);
      there.handed_on_ = true;
      there.look_for(parameter.text());
      is_other = is_other || there.is_other;
      for (const auto& [attribute, called] : there.all) all[attribute] = all[attribute] || called;
      return;
    }
  }

  bool is_it(const Node& node) const { return node.is("identifier") && node.text() == name_; }
  const FunctionDefinition& function_;
  const Modules& modules_;
  std::string_view name_;
  bool handed_on_ = false;
};

bool is_part_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// `self.name =`, alone or among others, somewhere in the class.
bool assigns(std::string_view text, std::string_view attribute) {
  const std::string wanted = "self." + std::string(attribute);
  for (std::size_t at = text.find(wanted); at != std::string_view::npos; at = text.find(wanted, at + 1)) {
    std::size_t behind = at + wanted.size();
    if (behind < text.size() && is_part_of_name(text[behind])) continue;
    while (behind < text.size() && text[behind] == ' ') ++behind;
    const bool equals = text.substr(behind, 1) == "=" && text.substr(behind, 2) != "==";
    const bool listed = text.substr(behind, 1) == "," && (at == 0 || text[at - 1] == ' ');
    if (equals || listed || text.substr(behind, 1) == ":") return true;
  }
  return false;
}

bool has(const ClassDefinition& of, std::string_view attribute, const Modules& modules, int depth) {
  static const std::set<std::string_view> of_every_module = {"training",   "parameters", "named_parameters",
                                                             "buffers",    "children",   "modules",
                                                             "state_dict", "train",      "eval"};
  if (of_every_module.contains(attribute) || of.method(attribute) || of.attributes.contains(attribute) ||
      assigns(of.node.text(), attribute))
    return true;
  if (depth > 8) return false;
  const std::vector<BaseClass>& bases = modules.bases(of);
  return std::any_of(bases.begin(), bases.end(), [&](const BaseClass& each) {
    return each.definition && has(*each.definition, attribute, modules, depth + 1);
  });
}
}  // namespace

bool is_layer_namespace(std::string_view name, const FunctionDefinition& function, const Modules& modules) {
  AttributeUses uses(function, modules);
  uses.look_for(name);
  const bool has_layers = std::any_of(uses.all.begin(), uses.all.end(), [](const auto& each) {
    return each.second && flow::find_module_type("torch::nn::" + std::string(each.first));
  });
  return has_layers && std::all_of(uses.all.begin(), uses.all.end(), [](const auto& each) {
           return flow::find_module_type("torch::nn::" + std::string(each.first)) != nullptr;
         });
}

void describe_module(const FunctionDefinition& function, const Node& parameter, const Modules& modules,
                     flow::Parameter& out) {
  const bool is_open = out.kind == flow::ParameterKind::kOther && out.type.empty() && !out.default_value &&
                       out.rest == flow::Rest::kNone && parameter.is("identifier");
  if (!is_open) return;
  AttributeUses uses(function, modules);
  uses.look_for(out.name);
  const auto called =
      std::count_if(uses.all.begin(), uses.all.end(), [](const auto& each) { return each.second; });
  if (uses.is_other || uses.all.size() < kFewest || called < static_cast<std::ptrdiff_t>(kFewestCalled))
    return;
  const ClassDefinition* only = nullptr;
  for (const auto& each : function.file->classes()) {
    if (each.get() == function.owner || each->is_opaque || !modules.is_module(*each)) continue;
    bool complete = true;
    modules.method(*each, "?", &complete);
    std::size_t known = 0;
    for (const auto& [attribute, is_called] : uses.all) known += has(*each, attribute, modules, 0) ? 1 : 0;
    const bool fits = known == uses.all.size() || (!complete && known >= kFewest + 1);
    if (!fits) continue;
    if (only) return;
    only = each.get();
  }
  if (!only) return;
  out.kind = flow::ParameterKind::kObject;
  out.type = only->qualified;
}

}  // namespace dtype_guard::python
