// A gap of the grammar: without brackets around the tuple it takes `return a, *b` and `*f(x)`, but no star
// before a display, a comprehension or an expression in parentheses. Such a file is parsed again with a blank
// for each of these stars, and the elements behind them become what they are.
#include <tree_sitter/api.h>

#include <algorithm>

#include "analyzer/python/syntax.h"

namespace dtype_guard::python {
namespace {
constexpr std::string_view kSpace = " \t\r\n\\";

// What a star that unpacks stands behind, where no bracket is around it.
bool begins_element(std::string_view before) {
  const std::size_t last = before.find_last_not_of(kSpace);
  if (last == std::string_view::npos) return false;
  before = before.substr(0, last + 1);
  return before.ends_with(',') || before.ends_with('=') || before.ends_with("return") ||
         before.ends_with("yield") || before.ends_with(" in");
}
}  // namespace

std::vector<Star> refused_stars(const TSTree* tree, std::string_view text) {
  std::vector<Star> out;
  for (std::size_t at = text.find('*'); at != std::string_view::npos; at = text.find('*', at + 1)) {
    const std::size_t next = text.find_first_not_of(kSpace, at + 1);
    if (next == std::string_view::npos || (text[next] != '(' && text[next] != '[' && text[next] != '{'))
      continue;
    if (!begins_element(text.substr(0, at))) continue;
    const auto place = static_cast<std::uint32_t>(at);
    const TSNode token = ts_node_descendant_for_byte_range(ts_tree_root_node(tree), place, place + 1);
    const bool in_text = ts_node_type(token) == std::string_view("string_content") ||
                         ts_node_type(token) == std::string_view("comment");
    if (!in_text) out.push_back({place, static_cast<std::uint32_t>(next)});
  }
  return out;
}

const Star* star_before(const std::vector<Star>& stars, std::uint32_t element) {
  const auto found =
      std::find_if(stars.begin(), stars.end(), [&](const Star& each) { return each.element == element; });
  return found == stars.end() ? nullptr : &*found;
}

}  // namespace dtype_guard::python
