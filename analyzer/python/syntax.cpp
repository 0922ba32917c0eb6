#include "analyzer/python/syntax.h"

#include <tree_sitter/api.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "analyzer/python/parser_memory.h"
#include "rules/text/utf8.h"

extern "C" const TSLanguage* tree_sitter_python(void);

namespace dtype_guard::python {
namespace {
constexpr std::size_t kMaxErrors = 5;
constexpr std::size_t kQuoted = 30;  // bytes of source in a message

bool is_word(char c) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

std::string quoted(std::string_view text) {
  const std::size_t line = std::min({text.find('\n'), kQuoted, text.size()});
  std::string out = "'";
  std::size_t end = 0;
  while (end < line) {  // not within a character
    const std::size_t next = end + utf8_character(text, end).length;
    if (next > line) break;
    end = next;
  }
  out += text.substr(0, end);
  out += end < text.size() ? "...'" : "'";
  return out;
}

// While it lives, the parser takes its memory from it, so that a tree is dropped as a whole.
class ParseMemory {
 public:
#ifdef DTYPE_GUARD_PARSER_MEMORY
  ParseMemory() : parse_(dtype_guard_begin_parse()) {}
  ~ParseMemory() { dtype_guard_end_parse(parse_); }
  static void drop(TSTree* /*tree*/) {}
#else
  ParseMemory() = default;
  static void drop(TSTree* tree) { ts_tree_delete(tree); }
#endif
  ParseMemory(const ParseMemory&) = delete;
  ParseMemory& operator=(const ParseMemory&) = delete;

 private:
  [[maybe_unused]] void* parse_ = nullptr;
};

std::string_view text_of(const TSNode& node, std::string_view text) {
  return text.substr(ts_node_start_byte(node), ts_node_end_byte(node) - ts_node_start_byte(node));
}

}  // namespace

Node Node::field(std::string_view name) const {
  if (!tree_) return {};
  static const std::vector<std::string_view>& names = field_names();
  const std::uint32_t after = tree_->stored(at_).after;
  for (std::uint32_t at = at_ + 1; at != after; at = tree_->stored(at).after) {
    const std::uint8_t field = tree_->stored(at).field;
    if (field != 0 && names[field] == name) return {at, tree_};
  }
  return {};
}

std::vector<Node> Node::children(std::string_view field_name) const {
  std::vector<Node> out;
  if (!tree_) return out;
  const std::uint32_t after = tree_->stored(at_).after;
  for (std::uint32_t at = at_ + 1; at != after; at = tree_->stored(at).after) {
    const StoredNode& each = tree_->stored(at);
    if (each.named && each.field != 0 && field_names()[each.field] == field_name) out.emplace_back(at, tree_);
  }
  return out;
}

Node Node::child(std::size_t index) const {
  for (const Node& each : children()) {
    if (index-- == 0) return each;
  }
  return {};
}

std::vector<std::string_view> Node::tokens() const {
  std::vector<std::string_view> out;
  if (!tree_) return out;
  const std::uint32_t after = tree_->stored(at_).after;
  for (std::uint32_t at = at_ + 1; at != after; at = tree_->stored(at).after) {
    if (!tree_->stored(at).named) out.push_back(Node(at, tree_).kind());
  }
  return out;
}

bool Node::has_token(std::string_view token) const {
  const std::vector<std::string_view> all = tokens();
  return std::find(all.begin(), all.end(), token) != all.end();
}

flow::SourceRange Node::range() const { return tree_ ? tree_->range(begin(), end()) : flow::SourceRange(); }

std::size_t Tree::line_of(std::uint32_t byte) const {
  return static_cast<std::size_t>(std::upper_bound(lines_.begin(), lines_.end(), byte) - lines_.begin()) - 1;
}

flow::SourceRange Tree::range(std::uint32_t begin, std::uint32_t end) const {
  const std::size_t first = line_of(begin);
  const bool one = first + 1 == lines_.size() || end < lines_[first + 1];
  const std::size_t last = one ? first : line_of(end);
  flow::SourceRange out;
  out.line = static_cast<int>(first) + 1;
  out.column = static_cast<int>(begin - lines_[first]) + 1;
  out.end_line = static_cast<int>(last) + 1;
  out.end_column = static_cast<int>(end - lines_[last]) + 1;
  return out;
}

Tree::Tree(std::string text, std::string report_name, int seconds)
    : text_(std::move(text)), name_(std::move(report_name)) {
  const ParseMemory memory;
  const std::unique_ptr<TSParser, decltype(&ts_parser_delete)> parser(ts_parser_new(), ts_parser_delete);
  ts_parser_set_language(parser.get(), tree_sitter_python());
  const auto limit = std::chrono::microseconds(std::chrono::seconds(seconds));
  ts_parser_set_timeout_micros(parser.get(), static_cast<std::uint64_t>(limit.count()));
  const auto parsed = [&](const std::string& source) {
    const auto size = static_cast<std::uint32_t>(source.size());
    return std::unique_ptr<TSTree, void (*)(TSTree*)>(
        ts_parser_parse_string(parser.get(), nullptr, source.data(), size), ParseMemory::drop);
  };
  auto tree = parsed(text_);
  if (!tree) {
    errors_.push_back({name_, 0, 0, "could not be parsed in " + std::to_string(seconds) + " seconds"});
    return;
  }
  std::vector<Star> stars;
  if (ts_node_has_error(ts_tree_root_node(tree.get()))) stars = refused_stars(tree.get(), text_);
  if (!stars.empty()) {
    std::string blanked = text_;
    for (const Star& each : stars) blanked[each.at] = ' ';
    auto again = parsed(blanked);
    const bool mended = again && !ts_node_has_error(ts_tree_root_node(again.get()));
    if (mended) tree = std::move(again);
    if (!mended) stars.clear();
  }
  copy(tree.get(), stars);
  if (root().has_error()) collect_errors(tree.get());
  if (errors_.empty()) find_python_2(tree.get());
}

// The grammar takes the statements of Python 2 that Python 3 refuses.
void Tree::find_python_2(const TSTree* tree) {
  for (const std::string_view keyword : {"print ", "exec "}) {
    for (std::size_t at = text_.find(keyword); at != std::string::npos; at = text_.find(keyword, at + 1)) {
      if (at > 0 && is_word(text_[at - 1])) continue;
      const auto place = static_cast<std::uint32_t>(at);
      TSNode node = ts_node_descendant_for_byte_range(ts_tree_root_node(tree), place, place + 1);
      if (!ts_node_is_named(node)) node = ts_node_parent(node);
      const std::string_view kind = ts_node_type(node);
      if (ts_node_start_byte(node) != place || (kind != "print_statement" && kind != "exec_statement"))
        continue;
      const TSNode first = ts_node_named_child(node, 0);
      if (kind == "print_statement" && ts_node_type(first) == std::string_view("chevron")) continue;
      const TSPoint start = ts_node_start_point(node);
      errors_.push_back({name_, static_cast<int>(start.row) + 1, static_cast<int>(start.column) + 1,
                         "is Python 2, and Python 3 is read: " + quoted(text_of(node, text_))});
      return;
    }
  }
}

// Without recursion: files may be nested as deep as they like.
void Tree::collect_errors(const TSTree* tree) {
  TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(tree));
  bool descend = true;
  while (errors_.size() < kMaxErrors) {
    const TSNode node = ts_tree_cursor_current_node(&cursor);
    const bool wrong = ts_node_is_error(node) || ts_node_is_missing(node);
    if (descend && wrong) {
      const TSPoint at = ts_node_start_point(node);
      const std::string message = ts_node_is_missing(node)
                                      ? "expected '" + std::string(ts_node_type(node)) + "'"
                                      : "is not Python 3: " + quoted(text_of(node, text_));
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
