// What a function uses as a size or count is a number: features of a layer, parts of a shape, bounds of a
// range, and what such a number is computed from or divided by. A configuration object is of no class that is
// known, and `config.hidden_size` in `nn.Linear(config.hidden_size, ...)` is a number all the same.
#include <utility>

#include "analyzer/python/function_lowering.h"

namespace dtype_guard::python {
namespace {
constexpr int kMaxDepth = 60;
constexpr int kMaxRounds = 4;  // one name computed from the next

// A name, or attributes of one.
bool is_path(const Node& node) {
  Node at = node;
  while (at.is("attribute")) at = at.field("object");
  return at.is("identifier");
}

std::string_view last_part(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return name.substr(dot == std::string_view::npos ? 0 : dot + 1);
}

class NumberSearch {
 public:
  NumberSearch(const FunctionDefinition& function, const Modules& modules)
      : function_(function), modules_(modules) {}

  std::set<std::string> run() {
    look(function_.node.field("body"), 0);
    for (int round = 0; round < kMaxRounds; ++round) {
      const std::size_t before = numbers_.size();
      for (const auto& [name, source] : assigned_) {
        if (numbers_.contains(name)) add(source, 0);
      }
      for (const auto& [left, right] : divided_) {
        if (is_number(left)) add(right, 0);
      }
      if (numbers_.size() == before) break;
    }
    return std::move(numbers_);
  }

 private:
  bool is_number(const Node& node) const {
    return node.is("integer") || numbers_.contains(std::string(node.text()));
  }

  // Every name in an expression of arithmetic that gives a number.
  void add(const Node& node, int depth) {
    if (depth > kMaxDepth) return;
    if (is_path(node)) {
      numbers_.insert(std::string(node.text()));
    } else if (node.is("binary_operator") || node.is("parenthesized_expression") ||
               node.is("unary_operator")) {
      for (const Node& each : node.children()) add(each, depth + 1);
    }
  }

  void add_parts(const Node& node) {
    if (!node.is("tuple") && !node.is("list")) return add(node, 0);
    for (const Node& each : node.children()) add(each, 0);
  }

  void look(const Node& node, int depth) {
    if (depth > kMaxDepth || node.is("lambda") || node.is("function_definition")) return;
    for (const Node& each : node.children()) {
      if (each.is("call")) look_at_call(each);
      if (each.is("assignment") && is_path(each.field("left")))
        assigned_.emplace_back(std::string(each.field("left").text()), each.field("right"));
      const std::string_view sign = each.is("binary_operator") ? each.field("operator").text() : "";
      if (sign == "//" || sign == "%") divided_.emplace_back(each.field("left"), each.field("right"));
      if (in_constructor_) look_at_sizes(each, sign);
      look(each, depth + 1);
    }
  }

  // width // heads, head_dim**-0.5: what objects are made from is divided as sizes are.
  void look_at_sizes(const Node& each, std::string_view sign) {
    if (each.field("left").is("string")) return;
    if (sign == "//" || sign == "%") add(each.field("right"), 0);
    const std::string_view power = sign == "**" ? each.field("right").text() : "";
    if (sign == "//" || sign == "%" || power == "-0.5" || power == "0.5") add(each.field("left"), 0);
  }

  void look_at_call(const Node& call) {
    const Node callee = call.field("function");
    std::vector<Node> positional;
    for (const Node& each : call.field("arguments").children()) {
      if (each.is("list_splat") || each.is("dictionary_splat")) return;
      if (!each.is("keyword_argument")) positional.push_back(each);
    }
    const std::string_view name = last_part(callee.text());
    static const std::set<std::string_view> shaping = {"view", "reshape", "expand"};
    if (callee.is("attribute") && shaping.contains(name) && positional.size() > 1) {
      for (const Node& each : positional) add(each, 0);
    } else if (callee.text() == "range") {
      for (const Node& each : positional) add(each, 0);
    } else if (is_library(callee, "torch.nn.", kLayers)) {
      for (std::size_t i = 0; i < positional.size() && i < 2; ++i) add(positional[i], 0);
      add_named(call, kFeatures);
    } else if (is_library(callee, "torch.", kFactories)) {
      for (const Node& each : positional) add_parts(each);
    }
  }

  void add_named(const Node& call, const std::set<std::string_view>& names) {
    for (const Node& each : call.field("arguments").children()) {
      if (each.is("keyword_argument") && names.contains(each.field("name").text()))
        add(each.field("value"), 0);
    }
  }

  bool is_library(const Node& callee, std::string_view package,
                  const std::set<std::string_view>& names) const {
    if (!names.contains(last_part(callee.text())) || !is_path(callee)) return false;
    const Entity known = modules_.named(*function_.file, std::string(callee.text()));
    return known.kind == Entity::Kind::kLibrary && known.name.starts_with(package) &&
           known.name.find('.', package.size()) == std::string::npos;
  }

  inline static const std::set<std::string_view> kLayers = {"Linear", "Embedding", "Conv1d", "Conv2d",
                                                            "Conv3d"};
  inline static const std::set<std::string_view> kFeatures = {
      "in_features", "out_features", "num_embeddings", "embedding_dim", "in_channels", "out_channels"};
  inline static const std::set<std::string_view> kFactories = {"zeros", "ones", "empty",
                                                               "randn", "rand", "arange"};
  const FunctionDefinition& function_;
  const Modules& modules_;
  const bool in_constructor_ = function_.owner && function_.name == "__init__";
  std::set<std::string> numbers_;
  std::vector<std::pair<std::string, Node>> assigned_;
  std::vector<std::pair<Node, Node>> divided_;
};
}  // namespace

std::set<std::string> numbers_of(const FunctionDefinition& function, const Modules& modules) {
  return NumberSearch(function, modules).run();
}

}  // namespace dtype_guard::python
