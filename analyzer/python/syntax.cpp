#include "analyzer/python/syntax.h"

#include <algorithm>
#include <chrono>
#include <utility>

extern "C" const TSLanguage* tree_sitter_python(void);

namespace dtype_guard::python {
namespace {
constexpr std::size_t kMaxErrors = 5;
constexpr std::size_t kQuoted = 30;  // bytes of source in a message

bool is_word(char c) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

std::string quoted(std::string_view text) {
  const std::size_t line = std::min(text.find('\n'), kQuoted);
  return "'" + std::string(text.substr(0, line)) + (line < text.size() ? "...'" : "'");
}
}  // namespace

Node Node::field(std::string_view name) const {
  if (!*this) return {};
  return {ts_node_child_by_field_name(node_, name.data(), static_cast<std::uint32_t>(name.size())), tree_};
}

std::vector<Node> Node::children() const {
  std::vector<Node> out;
  if (!*this) return out;
  TSTreeCursor cursor = ts_tree_cursor_new(node_);
  if (ts_tree_cursor_goto_first_child(&cursor)) {
    do {
      const TSNode child = ts_tree_cursor_current_node(&cursor);
      if (ts_node_is_named(child) && !ts_node_is_extra(child)) out.emplace_back(child, tree_);
    } while (ts_tree_cursor_goto_next_sibling(&cursor));
  }
  ts_tree_cursor_delete(&cursor);
  return out;
}

std::vector<Node> Node::children(std::string_view field_name) const {
  std::vector<Node> out;
  if (!*this) return out;
  TSTreeCursor cursor = ts_tree_cursor_new(node_);
  if (ts_tree_cursor_goto_first_child(&cursor)) {
    do {
      const char* field = ts_tree_cursor_current_field_name(&cursor);
      const TSNode child = ts_tree_cursor_current_node(&cursor);
      if (field && field_name == field && ts_node_is_named(child)) out.emplace_back(child, tree_);
    } while (ts_tree_cursor_goto_next_sibling(&cursor));
  }
  ts_tree_cursor_delete(&cursor);
  return out;
}

Node Node::child(std::size_t index) const {
  const std::vector<Node> all = children();
  return index < all.size() ? all[index] : Node();
}

std::string_view Node::text() const {
  if (!*this) return {};
  return std::string_view(tree_->text()).substr(begin(), end() - begin());
}

std::vector<std::string_view> Node::tokens() const {
  std::vector<std::string_view> out;
  if (!*this) return out;
  for (std::uint32_t i = 0; i < ts_node_child_count(node_); ++i) {
    const TSNode child = ts_node_child(node_, i);
    if (!ts_node_is_named(child)) out.emplace_back(ts_node_type(child));
  }
  return out;
}

bool Node::has_token(std::string_view token) const {
  const std::vector<std::string_view> all = tokens();
  return std::find(all.begin(), all.end(), token) != all.end();
}

flow::SourceRange Node::range() const {
  if (!*this) return {};
  const TSPoint begin = ts_node_start_point(node_);
  const TSPoint end = ts_node_end_point(node_);
  flow::SourceRange out;
  out.line = static_cast<int>(begin.row) + 1;
  out.column = static_cast<int>(begin.column) + 1;
  out.end_line = static_cast<int>(end.row) + 1;
  out.end_column = static_cast<int>(end.column) + 1;
  return out;
}

Tree::Tree(std::string text, std::string report_name, int seconds)
    : text_(std::move(text)), name_(std::move(report_name)) {
  TSParser* parser = ts_parser_new();
  ts_parser_set_language(parser, tree_sitter_python());
  const auto limit = std::chrono::microseconds(std::chrono::seconds(seconds));
  ts_parser_set_timeout_micros(parser, static_cast<std::uint64_t>(limit.count()));
  tree_ = ts_parser_parse_string(parser, nullptr, text_.data(), static_cast<std::uint32_t>(text_.size()));
  ts_parser_delete(parser);
  if (!tree_) {
    errors_.push_back({name_, 0, 0, "could not be parsed in " + std::to_string(seconds) + " seconds"});
  } else if (root().has_error()) {
    collect_errors();
  }
  if (tree_ && errors_.empty()) find_python_2();
}

// The grammar takes the statements of Python 2 that Python 3 refuses.
void Tree::find_python_2() {
  for (const std::string_view keyword : {"print ", "exec "}) {
    for (std::size_t at = text_.find(keyword); at != std::string::npos; at = text_.find(keyword, at + 1)) {
      if (at > 0 && is_word(text_[at - 1])) continue;
      const auto place = static_cast<std::uint32_t>(at);
      TSNode node = ts_node_descendant_for_byte_range(ts_tree_root_node(tree_), place, place + 1);
      if (!ts_node_is_named(node)) node = ts_node_parent(node);
      const Node statement(node, this);
      const bool printed = statement.is("print_statement") && !statement.child(0).is("chevron");
      if (statement.begin() != place || (!printed && !statement.is("exec_statement"))) continue;
      const flow::SourceRange range = statement.range();
      errors_.push_back({name_, range.line, range.column,
                         "is Python 2, and Python 3 is read: " + quoted(statement.text())});
      return;
    }
  }
}

Tree::~Tree() {
  if (tree_) ts_tree_delete(tree_);
}

Node Tree::root() const { return tree_ ? Node(ts_tree_root_node(tree_), this) : Node(); }

// Without recursion: files may be nested as deep as they like.
void Tree::collect_errors() {
  TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(tree_));
  bool descend = true;
  while (errors_.size() < kMaxErrors) {
    const TSNode node = ts_tree_cursor_current_node(&cursor);
    const bool wrong = ts_node_is_error(node) || ts_node_is_missing(node);
    if (descend && wrong) {
      const TSPoint at = ts_node_start_point(node);
      const Node here(node, this);
      const std::string message = ts_node_is_missing(node) ? "expected '" + std::string(here.kind()) + "'"
                                                           : "is not Python 3: " + quoted(here.text());
      errors_.push_back({name_, static_cast<int>(at.row) + 1, static_cast<int>(at.column) + 1, message});
    }
    if (descend && !wrong && ts_node_has_error(node) && ts_tree_cursor_goto_first_child(&cursor)) continue;
    descend = true;
    if (ts_tree_cursor_goto_next_sibling(&cursor)) continue;
    if (!ts_tree_cursor_goto_parent(&cursor)) break;
    descend = false;
  }
  ts_tree_cursor_delete(&cursor);
}

}  // namespace dtype_guard::python
