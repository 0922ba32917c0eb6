// Dictionaries and tables: displays, look-ups by constant keys, and functions that stand in a table.
#include <algorithm>
#include <span>

#include "analyzer/python/function_lowering.h"

namespace dtype_guard::python {

using namespace flow;

// An object whose fields are its keys. Where a key is not constant, anything may stand under any of them.
ValueId FunctionLowering::dictionary(const Node& node) {
  const std::vector<Node> entries = node.children();
  const bool copies = !entries.empty() && entries.front().is("dictionary_splat");
  const ValueId made = copies ? builder_.op("copy_of", {{"", value(entries.front().child(0))}})
                              : builder_.value(Op::kObject, std::string(kDictionary), {});
  bool known = true;
  for (const Node& each : std::span(entries).subspan(copies ? 1 : 0)) {
    if (each.is("dictionary_splat")) {
      builder_.op("dict_update", {{"self", made}, {"other", value(each.child(0))}});
      continue;
    }
    const auto key = each.is("pair") ? literal(each.field("key")) : std::nullopt;
    const Node held_node = each.is("pair") ? each.field("value") : each;
    const ValueId held = each.is("pair") ? callable(held_node) : value(held_node);
    known = known && key;
    if (!key) continue;
    Place place;
    place.base = made;
    place.path.push_back({Place::Step::Kind::kField, *key, 0});
    builder_.store(std::move(place), held);
  }
  return known ? made : builder_.unknown();
}

// {key: f(key) for key in ("a", "b")}: what each round gives, by its name. False where the names are not
// written out.
bool FunctionLowering::comprehended(const Node& node,
                                    const std::function<void(const std::string&, const Node&)>& add) {
  const Node pair = node.field("body");
  std::vector<Node> clauses;
  for (const Node& each : node.children()) {
    if (each.is("for_in_clause") || each.is("if_clause")) clauses.push_back(each);
  }
  if (clauses.size() != 1) return false;
  const Node name = clauses[0].field("left"), over = clauses[0].field("right");
  const auto all = displayed(over);
  if (!all || !name.is("identifier") || name.text() != pair.field("key").text()) return false;
  std::vector<std::string> names;
  for (const Node& each : *all) {
    const auto text = literal(each);
    if (!text) return false;
    names.push_back(*text);
  }
  std::size_t next = 0;
  loop_over(name, over, [&] { add(names[next++], pair.field("value")); });
  return true;
}

ValueId FunctionLowering::dictionary_comprehension(const Node& node) {
  const ValueId made = builder_.value(Op::kObject, std::string(kDictionary), {});
  const bool known = comprehended(node, [&](const std::string& name, const Node& held) {
    Place place;
    place.base = made;
    place.path.push_back({Place::Step::Kind::kField, name, 0});
    builder_.store(std::move(place), callable(held));
  });
  return known ? made : builder_.unknown();
}

// dict(zip(("q", "k", "v"), parts))
bool FunctionLowering::zipped_with_names(const Node& call, ValueId made) {
  const std::vector<Given> lists = call.is("call") ? given(call) : std::vector<Given>();
  if (lists.size() != 2 || call.field("function").text() != "zip" || knows("zip")) return false;
  const auto names = displayed(lists[0].node);
  if (!names || !lists[1].name.empty()) return false;
  if (!std::all_of(names->begin(), names->end(), [&](const Node& each) { return literal(each).has_value(); }))
    return false;
  const ValueId parts = value(lists[1].node);
  for (std::size_t i = 0; i < names->size(); ++i) {
    Place place;
    place.base = made;
    place.path.push_back({Place::Step::Kind::kField, *literal((*names)[i]), 0});
    const ValueId at = builder_.constant(static_cast<std::int64_t>(i));
    builder_.store(std::move(place), builder_.op("subscript", {{"self", parts}, {"index", at}}));
  }
  return true;
}

// dict(a=x, b=y)
ValueId FunctionLowering::made_dictionary(const std::vector<Given>& arguments) {
  const ValueId made = builder_.value(Op::kObject, std::string(kDictionary), {});
  if (arguments.size() == 1 && zipped_with_names(arguments[0].node, made)) return made;
  bool known = true;
  for (const Given& each : arguments) {
    const ValueId held = callable(each.node);
    known = known && !each.name.empty() && each.name != "**";
    if (!known) continue;
    Place place;
    place.base = made;
    place.path.push_back({Place::Step::Kind::kField, each.name, 0});
    builder_.store(std::move(place), held);
  }
  return known ? made : builder_.unknown();
}

// What a container of parameters holds is a parameter, whatever it was.
ValueId FunctionLowering::registered_in(ValueId container, const std::string& name, ValueId held,
                                        bool parameters) {
  if (!parameters) return builder_.registration("module", container, name, held);
  return builder_.registration("attribute", container, name, builder_.op("parameter", {{"self", held}}));
}

// Each entry is a field, and known by a constant key.
std::optional<ValueId> FunctionLowering::module_dictionary(const std::vector<Given>& arguments,
                                                           bool parameters) {
  const ValueId made = builder_.value(Op::kModule, "torch::nn::ModuleDict", {});
  const Node of = arguments.size() == 1 ? arguments[0].node : Node();
  const auto add = [&](const std::string& name, const Node& held) {
    const ValueId entry = registered_in(made, name, value(held), parameters);
    Place place;
    place.base = made;
    place.path.push_back({Place::Step::Kind::kField, name, 0});
    builder_.store(std::move(place), entry);
  };
  if (of.is("dictionary")) {
    for (const Node& each : of.children()) {
      if (const auto key = literal(each.field("key"))) add(*key, each.field("value"));
    }
  } else if (of.is("call") && of.field("function").text() == "dict") {
    for (const Given& each : given(of)) {
      if (!each.name.empty() && each.name != "*" && each.name != "**") add(each.name, each.node);
    }
  } else if (of && !(of.is("dictionary_comprehension") && comprehended(of, add))) {
    return builder_.value(Op::kCall, "?torch.nn.ModuleDict", {{"", value(of)}});
  }
  return made;
}

// d.update(a=x), d.update({...}), where no class in sight has such a method.
std::optional<ValueId> FunctionLowering::updated(const std::string& method, ValueId dictionary,
                                                 const std::vector<Given>& arguments) {
  if (method != "update" || arguments.empty() || unit_.is_project_method(method)) return std::nullopt;
  const bool by_name = std::all_of(arguments.begin(), arguments.end(), [](const Given& each) {
    return !each.name.empty() && !each.name.starts_with("*");
  });
  const bool is_display =
      arguments.size() == 1 && arguments[0].name.empty() && arguments[0].node.is("dictionary");
  if (!by_name && !is_display) return std::nullopt;
  const ValueId added = by_name ? made_dictionary(arguments) : value(arguments[0].node);
  return builder_.op("dict_update", {{"self", dictionary}, {"other", added}});
}

// d.get(k, otherwise) and d.pop(k, otherwise), where no class in sight has such a method.
std::optional<ValueId> FunctionLowering::looked_up(const std::string& method, ValueId dictionary,
                                                   const std::vector<Given>& arguments) {
  const bool takes = method == "pop", leaves = method == "setdefault";
  if ((!takes && !leaves && method != "get") || arguments.empty() || arguments.size() > 2 ||
      unit_.is_project_method(method))
    return std::nullopt;
  const auto key = literal(arguments[0].node);
  if (!key) {
    if (takes || leaves) return std::nullopt;
    Arguments asked = {{"self", dictionary}, {"any", builder_.constant(true)}};
    add_key(arguments[0].node, asked);
    const ValueId held = builder_.op("subscript", std::move(asked));
    if (arguments.size() == 1) return held;
    return either(builder_.op("python::has_key", {{"", dictionary}}), held, callable(arguments[1].node));
  }
  Arguments asked = {{"self", dictionary}, {"index", builder_.constant(*key)}};
  if (arguments.size() == 2) asked.push_back({"default", callable(arguments[1].node)});
  const ValueId held = builder_.op(takes ? "dict_pop" : "dict_get", std::move(asked));
  if (leaves)  // what was there, or was given, is there from now on
    builder_.op("store_element",
                {{"self", dictionary}, {"index", builder_.constant(*key)}, {"values", held}});
  return held;
}

// Lists and comparisons do, whatever is compared: a mask, or True, which is one too; and what has sizes.
bool FunctionLowering::names_places(const Node& index, int depth) const {
  constexpr int kDeepest = 16;
  if (depth > kDeepest) return false;
  const auto below = [&](const Node& each) { return each && names_places(each, depth + 1); };
  if (index.is("list") || index.is("comparison_operator") || has_sizes(index, definition_)) return true;
  if (index.is("parenthesized_expression")) return below(index.child(0));
  const std::string_view op = index.field("operator").text();
  if (index.is("unary_operator") && op == "~") return below(index.field("argument"));
  if (index.is("binary_operator") && (op == "&" || op == "|" || op == "^"))
    return below(index.field("left")) || below(index.field("right"));
  const auto assigned = index.is("identifier") ? assigned_.find(std::string(index.text())) : assigned_.end();
  return assigned != assigned_.end() && assigned->second.size() == 1 && below(assigned->second.front());
}

ValueId FunctionLowering::add_key(const Node& key, Arguments& arguments) {
  const ValueId given = value(key);
  const bool is_field = key.is("attribute") && is_self(key.field("object"));
  const auto assigned = assigned_.find(std::string(key.text()));
  const bool is_name = key.is("identifier") && assigned != assigned_.end() && assigned->second.size() == 1;
  if (!is_field && !is_name) return given;
  arguments.push_back({"key", given});
  arguments.push_back({"spelt", builder_.constant(std::string(key.text()))});
  return given;
}

// TABLE[name] and TABLE.get_interface(name, otherwise) of a library, where each entry has the table's
// contract; the library may be the project.
std::optional<ValueId> FunctionLowering::entry_of_library_table(const Node& table) {
  const Entity entity = resolve(table);
  const bool named = entity.kind == Entity::Kind::kLibrary || entity.kind == Entity::Kind::kValue;
  if (!named || !unit_.contract(entity.name)) return std::nullopt;
  return library_function(entity.name);
}

std::optional<ValueId> FunctionLowering::interface_of_library_table(const Node& function,
                                                                    const std::vector<Given>& arguments) {
  const std::string_view method = function.field("attribute").text();
  if (method != "get_interface" && method != "get") return std::nullopt;
  const auto entry = entry_of_library_table(function.field("object"));
  if (!entry || arguments.size() < 2) return entry;
  value(arguments[0].node);
  return either(builder_.unknown(), *entry, callable(arguments[1].node));
}

ValueId FunctionLowering::either(ValueId is_first, ValueId first, ValueId otherwise) {
  const BlockId found = builder_.block(), after = builder_.block();
  builder_.branch(is_first, found, after);
  builder_.enter(found);
  builder_.jump(after);
  builder_.enter(after);
  return builder_.value(Op::kPhi, "", {{"", first}, {"", otherwise}});
}

}  // namespace dtype_guard::python
