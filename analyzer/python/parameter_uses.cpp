// What a parameter is by what the body does with it: tensors have attributes that nothing else has, and go
// into operators, modules, attention calls, and functions that use theirs so.
#include <algorithm>
#include <set>

#include "analyzer/python/function_lowering.h"
#include "rules/contracts/roles.h"

namespace dtype_guard::python {
namespace {
constexpr int kMaxDepth = 60;
constexpr int kMaxFunctions = 3;  // one handing it to the next

// How a name is used that could only be a tensor: by attributes that nothing else has.
struct Use {
  bool tensor = false;
  bool other = false;
};

// Methods of a tensor that other things have as well.
bool is_of_tensors_alone(std::string_view attribute) {
  static const std::set<std::string_view> shared = {
      "to",    "type",   "float",    "half",   "double", "bool",  "int",    "long",  "split",
      "index", "add",    "sub",      "div",    "sum",    "mean",  "max",    "min",   "any",
      "all",   "norm",   "pow",      "round",  "fill",   "sort",  "unique", "item",  "copy",
      "dim",   "repeat", "abs",      "data",   "apply",  "set",   "put",    "take",  "count",
      "char",  "byte",   "short",    "eval",   "random", "range", "real",   "imag",  "log",
      "mode",  "slice",  "unfold",   "select", "zero_",  "t",     "ceil",   "floor", "equal",
      "names", "stride", "bfloat16", "stack",  "dot",    "clip",  "std",    "var"};
  if (attribute == "shape" || attribute == "mT" || attribute == "numel" || attribute == "size") return true;
  return !shared.contains(attribute) && find_operator("torch.Tensor." + std::string(attribute)) != nullptr;
}

bool may_be_of_tensor(std::string_view attribute) {
  static const std::set<std::string_view> all = {"dtype",         "device", "ndim", "T",  "is_cuda",
                                                 "requires_grad", "grad",   "data", "dim"};
  return all.contains(attribute) || is_of_tensors_alone(attribute) ||
         find_operator("torch.Tensor." + std::string(attribute));
}

// Modules that take floating tensors.
bool makes_floating_module(const Node& value) {
  static const std::set<std::string_view> known = {"Linear",    "LayerNorm",   "RMSNorm",
                                                   "GroupNorm", "BatchNorm1d", "BatchNorm2d",
                                                   "Conv1d",    "Conv2d",      "Conv3d"};
  const std::string_view callee = value.is("call") ? value.field("function").text() : std::string_view();
  const std::size_t dot = callee.rfind('.');
  return known.contains(callee.substr(dot == std::string_view::npos ? 0 : dot + 1));
}

// Whether the constructor puts such a module into that field of its object.
bool assigns_floating_module(const Node& node, std::string_view field, int depth) {
  if (depth > kMaxDepth) return false;
  for (const Node& each : node.children()) {
    const Node left = each.is("assignment") ? each.field("left") : Node();
    const bool several = left.is("pattern_list") && each.field("right").is("expression_list");
    const std::vector<Node> targets = several ? left.children() : std::vector<Node>{left};
    const std::vector<Node> values =
        several ? each.field("right").children() : std::vector<Node>{each.field("right")};
    for (std::size_t i = 0; i < targets.size() && i < values.size(); ++i) {
      if (targets[i].is("attribute") && targets[i].field("attribute").text() == field &&
          makes_floating_module(values[i]))
        return true;
    }
    if (assigns_floating_module(each, field, depth + 1)) return true;
  }
  return false;
}

class UseSearch {
 public:
  UseSearch(std::string_view name, const FunctionDefinition& function, const Modules& modules)
      : name_(name), function_(function), modules_(modules) {}

  Use run() {
    look(function_.node.field("body"), 0);
    return use_;
  }

 private:
  bool is_it(const Node& node) const { return node.is("identifier") && node.text() == name_; }

  void look(const Node& node, int depth) {
    if (depth > kMaxDepth || node.is("lambda") || node.is("function_definition")) return;
    for (const Node& each : node.children()) {
      if (each.is("attribute") && is_it(each.field("object"))) {
        const std::string_view attribute = each.field("attribute").text();
        use_.tensor = use_.tensor || is_of_tensors_alone(attribute);
        use_.other = use_.other || !may_be_of_tensor(attribute);
      } else if (each.is("call") && !use_.tensor) {
        use_.tensor = is_cast(each) || goes_into_operator(each) || goes_into_module(each) ||
                      goes_into_function(each) || goes_into_attention(each);
      } else if (each.is("binary_operator") && each.field("operator").text() == "@") {
        use_.tensor = use_.tensor || is_it(each.field("left")) || is_it(each.field("right"));
      }
      look(each, depth + 1);
    }
  }

  // x.to(dtype=...): a module is seldom told a dtype where it is used.
  bool is_cast(const Node& call) const {
    const Node called = call.field("function");
    return called.is("attribute") && called.field("object").text() == name_ &&
           called.field("attribute").text() == "to" &&
           call.field("arguments").text().find("dtype") != std::string_view::npos;
  }

  bool goes_into_operator(const Node& call) const {
    const std::string_view callee = call.field("function").text();
    const bool torch = callee.starts_with("torch.") || callee.starts_with("F.") || callee == "rearrange" ||
                       callee == "einops.rearrange";
    const Node first = call.field("arguments").child(0);
    const bool named = first.is("keyword_argument") && first.field("name").text() == "input";
    if (!torch || !is_it(named ? first.field("value") : first)) return false;
    const std::size_t dot = callee.rfind('.');
    const std::string last(callee.substr(dot == std::string_view::npos ? 0 : dot + 1));
    const Operator* op = find_operator(last);
    const bool tensor_first = op && op->result != ResultRule::kFactory &&
                              op->result != ResultRule::kFactoryFromValue && !op->arguments.empty() &&
                              (op->arguments[0] == "self" || op->arguments[0] == "input");
    return tensor_first || last == "rearrange";
  }

  // self.project(x): a module that a field holds, where the class has no such method; layer["project"](x).
  bool goes_into_module(const Node& call) const {
    const Node callee = call.field("function");
    const Node table = callee.is("subscript") ? callee.field("value") : Node();
    const bool of_table =
        table.is("identifier") || (table.is("attribute") && table.field("object").text() == "self");
    if (of_table && function_.owner && function_.name == "forward" && modules_.is_module(*function_.owner) &&
        is_it(call.field("arguments").child(0)))
      return true;
    const bool of_self = callee.is("attribute") && callee.field("object").text() == "self" && function_.owner;
    if (!of_self || !is_it(call.field("arguments").child(0))) return false;
    const std::string_view field = callee.field("attribute").text();
    if (modules_.method(*function_.owner, field, nullptr)) return false;
    if (function_.name == "forward") return true;
    const FunctionDefinition* constructor = modules_.method(*function_.owner, "__init__", nullptr);
    return constructor && assigns_floating_module(constructor->node, field, 0);
  }

  // `k * torch.ones(1)`, `-k / 2`: computed from it and from what PyTorch makes or numbers.
  bool is_computed_of(const Node& node, int depth) const {
    if (is_it(node) || depth > kMaxDepth) return is_it(node);
    if (node.is("parenthesized_expression")) return is_computed_of(node.child(0), depth + 1);
    if (node.is("unary_operator")) return is_computed_of(node.field("argument"), depth + 1);
    if (!node.is("binary_operator")) return false;
    const auto says_nothing = [](const Node& other) {
      return other.is("integer") || other.is("float") ||
             (other.is("call") && other.field("function").text().starts_with("torch."));
    };
    const Node left = node.field("left"), right = node.field("right");
    return (is_computed_of(left, depth + 1) && says_nothing(right)) ||
           (says_nothing(left) && is_computed_of(right, depth + 1));
  }

  // What it is the argument of, by position from 0 or by name; "*" behind a list.
  std::string place_in(const std::vector<Node>& arguments, bool computed = false) const {
    const auto is_it = [&](const Node& each) {
      return computed ? is_computed_of(each, 0) : this->is_it(each);
    };
    int position = 0;
    for (const Node& each : arguments) {
      if (each.is("list_splat") || each.is("dictionary_splat")) return "";
      if (each.is("keyword_argument")) {
        if (is_it(each.field("value"))) return std::string(each.field("name").text());
      } else if (is_it(each)) {
        return std::to_string(position);
      }
      ++position;
    }
    return "";
  }

  bool goes_into_attention(const Node& call) const {
    const std::string place = place_in(call.field("arguments").children(), true);
    if (place.empty()) return false;
    const Entity callee = modules_.named(*function_.file, std::string(call.field("function").text()));
    if (callee.kind != Entity::Kind::kLibrary) return false;
    const ContractSet* own = modules_.options().contracts;
    const Api* api = (own ? *own : builtin_contracts()).find(callee.name);
    if (!api) return false;
    return std::any_of(api->operands.begin(), api->operands.end(), [&](const Operand& each) {
      return role_kind(each.role) == RoleKind::kInput &&
             (each.called() == place || std::to_string(each.argument) == place);
    });
  }

  // A function or method in sight, also where a checkpoint runs it.
  bool goes_into_function(const Node& call) const {
    Node callee = call.field("function");
    std::vector<Node> arguments = call.field("arguments").children();
    if (callee.text().ends_with("checkpoint") && !arguments.empty()) {
      callee = arguments[0];
      arguments.erase(arguments.begin());
    }
    const std::string place = place_in(arguments);
    if (place.empty() || rounds_ >= kMaxFunctions) return false;
    const bool of_self = callee.is("attribute") && callee.field("object").text() == "self" && function_.owner;
    const FunctionDefinition* target = nullptr;
    if (of_self) {
      target = modules_.method(*function_.owner, callee.field("attribute").text(), nullptr);
    } else if (callee.is("identifier")) {
      target = modules_.global(*function_.file, callee.text()).function;
    }
    if (!target || target->is_class_method || target->is_opaque || target == &function_) return false;
    int position = of_self && !target->is_static ? -1 : 0;
    ++rounds_;
    bool out = false;
    for (const Node& each : target->node.field("parameters").children()) {
      if (each.is("keyword_separator") || each.is("positional_separator")) continue;
      const int at = position++;
      if (at < 0) continue;
      const flow::Parameter parameter = describe_parameter(*target, each, modules_);
      if (parameter.rest != flow::Rest::kNone) break;
      if (std::to_string(at) != place && parameter.name != place) continue;
      out = (parameter.kind == flow::ParameterKind::kTensor && parameter.type.empty()) ||
            parameter.kind == flow::ParameterKind::kOptionalTensor;
      break;
    }
    --rounds_;
    return out;
  }

  static thread_local int rounds_;
  std::string_view name_;
  const FunctionDefinition& function_;
  const Modules& modules_;
  Use use_;
};
thread_local int UseSearch::rounds_ = 0;
}  // namespace

bool is_used_as_tensor(std::string_view name, const FunctionDefinition& function, const Modules& modules) {
  const Use use = UseSearch(name, function, modules).run();
  return use.tensor && !use.other;
}

namespace {
// name.shape[0], name.size(0)
bool asks_for_a_size(const Node& node, std::string_view name) {
  const Node of = node.is("subscript") ? node.field("value") : node.field("function");
  const bool asks = node.is("subscript") ? of.field("attribute").text() == "shape"
                                         : of.field("attribute").text() == "size" &&
                                               node.field("arguments").children().size() == 1;
  return asks && of.is("attribute") && of.field("object").text() == name;
}

bool asks_below(const Node& node, std::string_view name, int depth) {
  if (depth > kMaxDepth) return false;
  const bool asks = (node.is("subscript") || node.is("call")) && asks_for_a_size(node, name);
  const auto all = node.children();
  return asks || std::any_of(all.begin(), all.end(),
                             [&](const Node& each) { return asks_below(each, name, depth + 1); });
}
}  // namespace

bool has_sizes(const Node& name, const FunctionDefinition& function) {
  return name.is("identifier") && asks_below(function.node.field("body"), name.text(), 0);
}

}  // namespace dtype_guard::python
