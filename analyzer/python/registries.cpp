#include "analyzer/python/registries.h"

#include <algorithm>
#include <map>
#include <optional>

namespace dtype_guard::python {
namespace {
// By which name a function puts what it is handed into a table.
enum class Key : std::uint8_t { kOwnName, kFirstArgument };

std::string_view only_parameter(const Node& function) {
  const std::vector<Node> all = function.field("parameters").children();
  return all.size() == 1 && all[0].is("identifier") ? all[0].text() : std::string_view();
}

// `table[key] = value` among the statements; the key, or no node.
Node key_stored(const Node& body, std::string_view table, std::string_view value) {
  for (const Node& each : body.children()) {
    const Node stored = each.is("expression_statement") ? each.child(0) : Node();
    const Node target = stored.is("assignment") ? stored.field("left") : Node();
    if (target.is("subscript") && target.field("value").text() == table &&
        stored.field("right").text() == value)
      return target.field("subscript");
  }
  return {};
}

// How this function, as a decorator, fills the table.
std::optional<Key> fills(const Node& function, std::string_view table) {
  const Node body = function.field("body");
  if (const std::string_view own = only_parameter(function); !own.empty()) {
    const Node key = key_stored(body, table, own);
    if (key && key.text() == std::string(own) + ".__name__") return Key::kOwnName;
  }
  for (const Node& each : body.children()) {
    const std::string_view decorated = each.is("function_definition") ? only_parameter(each) : "";
    const Node key = decorated.empty() ? Node() : key_stored(each.field("body"), table, decorated);
    if (key && key.text() == first_parameter(function)) return Key::kFirstArgument;
  }
  return std::nullopt;
}

// The text of a string without escapes; nothing of what is no such string.
std::optional<std::string> text_of(const Node& node) {
  const std::string_view text = node.text();
  const bool is_quoted = node.is("string") && text.size() >= 2 && (text[0] == '"' || text[0] == '\'');
  if (!is_quoted || text.starts_with("\"\"\"") || text.find('\\') != std::string_view::npos)
    return std::nullopt;
  return std::string(text.substr(1, text.size() - 2));
}
}  // namespace

std::optional<std::vector<RegistryEntry>> registered(const SourceFile& file, std::string_view table) {
  std::vector<RegistryEntry> out;
  if (file.tree().text().find(std::string(table) + "[") == std::string::npos) return std::nullopt;
  std::map<std::string_view, Key> decorators;
  for (const auto& each : file.functions()) {
    const auto key = each->owner || each->is_nested ? std::nullopt : fills(each->node, table);
    if (key) decorators[each->name] = *key;
  }
  for (const Node& statement : file.tree().root().children()) {
    const Node assigned = statement.is("expression_statement") ? statement.child(0) : Node();
    const Node target = assigned.is("assignment") ? assigned.field("left") : Node();
    if (target.is("subscript") && target.field("value").text() == table) {
      const auto key = text_of(target.field("subscript"));
      if (key && assigned.field("right").is("identifier"))
        out.push_back({*key, std::string(assigned.field("right").text())});
    }
    if (!statement.is("decorated_definition")) continue;
    const std::string name(statement.field("definition").field("name").text());
    for (const Node& each : statement.children()) {
      const Node by = each.is("decorator") ? each.child(0) : Node();
      const auto found = decorators.find(by.is("call") ? by.field("function").text() : by ? by.text() : "");
      if (!by || found == decorators.end()) continue;
      const auto key = by.is("call") ? text_of(by.field("arguments").child(0)) : std::optional(name);
      if (key && by.is("call") == (found->second == Key::kFirstArgument)) out.push_back({*key, name});
    }
  }
  return out.empty() && decorators.empty() ? std::nullopt : std::optional(out);
}

}  // namespace dtype_guard::python
