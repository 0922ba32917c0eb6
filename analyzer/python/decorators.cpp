// Decorators: which of them give the function back, or one that hands its arguments on and its result back.
#include <algorithm>
#include <set>

#include "analyzer/python/names.h"

namespace dtype_guard::python {

std::string_view first_parameter(const Node& function) {
  const Node first = function.field("parameters").child(0);
  return first.is("identifier") ? first.text()
         : first.field("name")  ? first.field("name").text()
                                : first.child(0).text();
}

namespace {
constexpr int kMaxDepth = 40;

// Those of libraries that are known by name, whatever module they are imported from.
bool is_known(std::string_view name) {
  static const std::set<std::string_view> known = {"staticmethod",
                                                   "classmethod",
                                                   "property",
                                                   "abstractmethod",
                                                   "overload",
                                                   "override",
                                                   "final",
                                                   "wraps",
                                                   "cached_property",
                                                   "no_grad",
                                                   "inference_mode",
                                                   "compile",
                                                   "script",
                                                   "autocast",
                                                   "custom_fwd",
                                                   "custom_bwd",
                                                   "jit",
                                                   "lru_cache",
                                                   "cache",
                                                   "ignore",
                                                   "unused",
                                                   "export",
                                                   "deprecate_kwarg",
                                                   "disable",
                                                   "contextmanager",
                                                   "setter",
                                                   "getter",
                                                   "deleter",
                                                   "enable_grad",
                                                   "set_grad_enabled",
                                                   "check_model_inputs",
                                                   "singledispatch",
                                                   "amp"};
  const std::size_t dot = name.rfind('.');
  return known.contains(dot == std::string_view::npos ? name : name.substr(dot + 1));
}

// What the functions around a place take first, one of which is the function that is decorated; and names
// that the innermost of them binds to something else than it was handed.
struct Taken {
  std::vector<std::string_view> first;
  std::set<std::string_view> rebound;
};

void add_rebound(const Node& node, std::set<std::string_view>& out, int depth) {
  if (depth > kMaxDepth || node.is("function_definition") || node.is("lambda")) return;
  const auto add = [&](const Node& target) {
    if (target.is("identifier")) out.insert(target.text());
    for (const Node& each : target.children()) {
      if (each.is("identifier") && !target.is("subscript") && !target.is("attribute"))
        out.insert(each.text());
    }
  };
  if (node.is("assignment") || node.is("for_statement")) add(node.field("left"));
  for (const Node& each : node.children()) add_rebound(each, out, depth + 1);
}

struct Returns {
  int all = 0, hand_on = 0;
};

bool hands_on(const Node& given, const Taken& taken) {
  const auto is_taken = [&](const Node& name) {
    return name.is("identifier") &&
           std::find(taken.first.begin(), taken.first.end(), name.text()) != taken.first.end();
  };
  if (is_taken(given)) return true;
  if (!given.is("call") || !is_taken(given.field("function"))) return false;
  const std::vector<Node> arguments = given.field("arguments").children();
  const auto is_splat = [](const Node& each) { return each.is("list_splat") || each.is("dictionary_splat"); };
  return std::any_of(arguments.begin(), arguments.end(), is_splat) &&
         std::none_of(arguments.begin(), arguments.end(), [&](const Node& each) {
           return taken.rebound.contains((is_splat(each) ? each.child(0) : each).text());
         });
}

bool some_function_hands_on(const Node& function, Taken taken, int depth);

void look(const Node& node, const Taken& taken, Returns& returns, bool& below, int depth) {
  if (depth > kMaxDepth) return;
  for (const Node& each : node.children()) {
    if (each.is("function_definition")) {
      below = below || some_function_hands_on(each, taken, depth + 1);
    } else if (each.is("return_statement")) {
      ++returns.all;
      returns.hand_on += hands_on(each.child(0), taken);
    } else if (!each.is("lambda") && !each.is("class_definition")) {
      look(each, taken, returns, below, depth + 1);
    }
  }
}

bool some_function_hands_on(const Node& function, Taken taken, int depth) {
  taken.first.push_back(first_parameter(function));
  taken.rebound.clear();
  add_rebound(function.field("body"), taken.rebound, 0);
  Returns returns;
  bool below = false;
  look(function.field("body"), taken, returns, below, depth);
  return below || (returns.all > 0 && returns.all == returns.hand_on);
}
}  // namespace

// Of the file's own it is read off the code; one of a library that is not known gives the function back.
bool SourceFile::is_transparent(std::string_view decorator) const {
  if (is_known(decorator)) return true;
  const Global* local = global(decorator.substr(0, decorator.find('.')));
  if (!local) return false;
  if (!local->imported.empty()) return true;
  if (local->function) return some_function_hands_on(local->function->node, {}, 0);
  return local->value.is("call");  // partial(autocast, ...): what it does is seen where it is entered
}

}  // namespace dtype_guard::python
