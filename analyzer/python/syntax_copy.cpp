// tree-sitter's tree as an array of stored nodes: one walk with its cursor.
#include <tree_sitter/api.h>

#include <algorithm>

#include "analyzer/python/syntax.h"

extern "C" const TSLanguage* tree_sitter_python(void);

namespace dtype_guard::python {
namespace {
constexpr TSSymbol kErrorSymbol = 65535;
constexpr std::size_t kBytesOfNode = 3;  // of source, about

// Kinds by symbol; behind them stands that of errors.
std::uint16_t kind_of(const TSNode& node) {
  static const auto kErrors = static_cast<std::uint16_t>(kind_names().size() - 1);
  const TSSymbol symbol = ts_node_symbol(node);
  return symbol == kErrorSymbol ? kErrors : symbol;
}

// Punctuation by which nothing is told apart.
bool is_left_out(const TSNode& node) {
  if (ts_node_is_extra(node)) return true;
  if (ts_node_is_named(node)) return false;
  static const std::vector<bool> all = [] {
    constexpr std::string_view kMarks[] = {"(", ")", "[", "]", "{", "}", ",", ":", ".", ";", "=", "->"};
    std::vector<bool> out;
    for (const std::string_view each : kind_names())
      out.push_back(std::find(std::begin(kMarks), std::end(kMarks), each) != std::end(kMarks));
    return out;
  }();
  return all[kind_of(node)];
}

std::uint16_t kind_called(std::string_view name) {
  const auto& names = kind_names();
  return static_cast<std::uint16_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

bool holds_elements(const StoredNode& node) {
  static const std::vector<std::string_view> all = {"expression_list", "tuple", "list", "set",
                                                    "argument_list",   "yield"};
  return std::find(all.begin(), all.end(), kind_names()[node.kind]) != all.end();
}
}  // namespace

const std::vector<std::string_view>& kind_names() {
  static const std::vector<std::string_view> names = [] {
    const TSLanguage* language = tree_sitter_python();
    std::vector<std::string_view> out;
    for (TSSymbol each = 0; each < ts_language_symbol_count(language); ++each)
      out.emplace_back(ts_language_symbol_name(language, each));
    out.emplace_back("ERROR");
    return out;
  }();
  return names;
}

const std::vector<std::string_view>& field_names() {
  static const std::vector<std::string_view> names = [] {
    const TSLanguage* language = tree_sitter_python();
    std::vector<std::string_view> out = {""};
    for (TSFieldId each = 1; each <= ts_language_field_count(language); ++each)
      out.emplace_back(ts_language_field_name_for_id(language, each));
    return out;
  }();
  return names;
}

namespace {
struct Open {
  std::uint32_t node = 0;
  bool starred = false;  // it has a node for its star around it
  bool dropped = false;  // it has none: its child stands in its place, as the same field
  std::uint8_t field = 0;
};

StoredNode stored_from(const TSTreeCursor& cursor, const TSNode& node) {
  StoredNode made;
  made.begin = ts_node_start_byte(node);
  made.end = ts_node_end_byte(node);
  made.kind = kind_of(node);
  made.field = static_cast<std::uint8_t>(ts_tree_cursor_current_field_id(&cursor));
  made.named = ts_node_is_named(node);
  made.error = ts_node_has_error(node);
  return made;
}

// The same node with a star around it, which begins there.
StoredNode star_around(const StoredNode& node, std::uint32_t begin) {
  static const std::uint16_t kStar = kind_called("list_splat");
  StoredNode out = node;
  out.begin = begin;
  out.kind = kStar;
  return out;
}

// Without brackets the grammar takes `*x.shape, y` for `(*x).shape, y`: the star belongs around all of it.
// False where this star stands where it should.
bool move_star_out(std::vector<StoredNode>& nodes, std::vector<Open>& open, const StoredNode& star) {
  static const std::vector<std::string_view> wholes = {"attribute", "subscript", "call", "binary_operator"};
  auto outermost = open.end();
  while (outermost != open.begin()) {
    const Open& around = *(outermost - 1);
    if (around.dropped) break;  // it has no node
    const StoredNode& node = nodes[around.node];
    const bool is_part = node.begin == star.begin && node.kind != star.kind &&
                         std::find(wholes.begin(), wholes.end(), kind_names()[node.kind]) != wholes.end();
    if (!is_part) break;
    --outermost;
  }
  if (outermost == open.end() || outermost->starred) return false;
  for (auto each = outermost; each != open.end(); ++each) ++nodes[each->node].begin;  // behind the star
  const std::uint32_t place = outermost->node;
  const StoredNode around = star_around(nodes[place], star.begin);
  nodes[place].field = 0;
  nodes.insert(nodes.begin() + place, around);
  for (auto each = outermost; each != open.end(); ++each) ++each->node;
  outermost->starred = true;
  return true;
}
}  // namespace

void Tree::copy(const TSTree* tree, const std::vector<Star>& stars) {
  lines_.push_back(0);
  for (std::size_t at = text_.find('\n'); at != std::string::npos; at = text_.find('\n', at + 1))
    lines_.push_back(static_cast<std::uint32_t>(at) + 1);
  nodes_.reserve(text_.size() / kBytesOfNode);
  static const std::uint16_t kStar = kind_called("list_splat");
  std::vector<Open> open;  // the nodes that the cursor is in
  TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(tree));
  for (bool inside = true; inside;) {
    const TSNode node = ts_tree_cursor_current_node(&cursor);
    const bool is_mark_of_dropped = !open.empty() && open.back().dropped && !ts_node_is_named(node);
    const bool kept = !is_left_out(node) && !is_mark_of_dropped;
    if (kept) {
      StoredNode made = stored_from(cursor, node);
      if (made.kind == kStar && move_star_out(nodes_, open, made)) {
        open.push_back({static_cast<std::uint32_t>(nodes_.size()), false, true, made.field});
        if (ts_tree_cursor_goto_first_child(&cursor)) continue;
      }
      if (!open.empty() && open.back().dropped) made.field = open.back().field;
      const bool is_inside = !open.empty() && !open.back().dropped;
      const bool element = !stars.empty() && is_inside && holds_elements(nodes_[open.back().node]);
      const Star* star = element ? star_before(stars, made.begin) : nullptr;
      if (star) {
        nodes_.push_back(star_around(made, star->at));
        made.field = 0;
      }
      open.push_back({static_cast<std::uint32_t>(nodes_.size()), star != nullptr});
      nodes_.push_back(made);
      if (ts_tree_cursor_goto_first_child(&cursor)) continue;
    }
    const auto close = [&] {
      const auto [ended, starred, dropped, field] = open.back();
      for (std::uint32_t each = starred ? ended - 1 : ended; each <= ended && !dropped; ++each)
        nodes_[each].after = static_cast<std::uint32_t>(nodes_.size());
      open.pop_back();
    };
    if (kept) close();
    while (!ts_tree_cursor_goto_next_sibling(&cursor)) {
      inside = ts_tree_cursor_goto_parent(&cursor);
      if (!inside) break;
      close();
    }
  }
  ts_tree_cursor_delete(&cursor);
  nodes_.shrink_to_fit();
}

}  // namespace dtype_guard::python
