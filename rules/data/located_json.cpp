#include "rules/data/located_json.h"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

namespace dtype_guard {
namespace {

// Where the lexer stands. nlohmann/json keeps positions to itself, so the iterator that feeds it counts
// lines.
struct Progress {
  int line = 1;
  char last = 0;
};

class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, Progress* progress) : at_(at), progress_(progress) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    progress_->last = *at_;
    if (*at_ == '\n') ++progress_->line;
    ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) { return a.at_ == b.at_; }

 private:
  const char* at_;
  Progress* progress_;
};

// "[json.exception.parse_error.101] parse error at line 3, column 7: syntax error while parsing value - ..."
// without what the caller says better.
std::string grammar_problem(std::string_view message) {
  const std::size_t column = message.find(", column ");
  const std::size_t colon = column == std::string_view::npos ? column : message.find(": ", column);
  if (colon == std::string_view::npos) {
    const std::size_t id = message.find("] ");
    return "found malformed JSON: " + std::string(message.substr(id == std::string_view::npos ? 0 : id + 2));
  }
  std::string text = "found malformed JSON at " + std::string(message.substr(column + 2, colon - column - 2));
  return text + ": " + std::string(message.substr(colon + 2));
}

class TreeBuilder {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  TreeBuilder(JsonNode& root, const Progress& progress) : root_(root), progress_(progress) {}

  bool null() { return place(JsonNode::Null{}, progress_.line); }
  bool boolean(bool value) { return place(value, progress_.line); }
  bool number_integer(number_integer_t value) { return place(std::int64_t{value}, line_of_number()); }
  bool number_unsigned(number_unsigned_t value) {
    if (value <= static_cast<number_unsigned_t>(INT64_MAX)) {
      return place(static_cast<std::int64_t>(value), line_of_number());
    }
    return place(std::uint64_t{value}, line_of_number());
  }
  bool number_float(number_float_t value, const string_t&) { return place(value, line_of_number()); }
  bool string(string_t& value) { return place(std::move(value), progress_.line); }
  bool binary(binary_t&) { return false; }
  bool start_object(std::size_t) { return open(JsonNode::Members{}); }
  bool start_array(std::size_t) { return open(JsonNode::Items{}); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(string_t& name) {
    JsonNode& object = *open_.back();
    if (object.member(name) != nullptr) {
      throw JsonError(progress_.line, pointer_to(object.pointer, name),
                      fmt::format("found the key \"{}\" twice, expected each key once", name));
    }
    key_ = std::move(name);
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) {
    throw JsonError(progress_.line, open_.empty() ? std::string() : open_.back()->pointer,
                    grammar_problem(error.what()));
  }

 private:
  // A number ends only at the character after it, which the lexer has then already taken.
  int line_of_number() const { return progress_.last == '\n' ? progress_.line - 1 : progress_.line; }

  template <typename Value>
  bool place(Value value, int line) {
    JsonNode& node = next();
    node.line = line;
    node.value = std::move(value);
    return true;
  }

  template <typename Container>
  bool open(Container container) {
    if (open_.size() >= static_cast<std::size_t>(JsonNode::kMaxDepth)) {
      throw JsonError(progress_.line, open_.back()->pointer,
                      fmt::format("found nesting deeper than {}, expected less", JsonNode::kMaxDepth));
    }
    JsonNode& node = next();
    node.line = progress_.line;
    node.value = std::move(container);
    open_.push_back(&node);
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  // Pointers into the containers stay valid: only the innermost open one grows.
  JsonNode& next() {
    if (open_.empty()) return root_;
    JsonNode& parent = *open_.back();
    if (auto* items = std::get_if<JsonNode::Items>(&parent.value)) {
      JsonNode& node = items->emplace_back();
      node.pointer = pointer_to(parent.pointer, items->size() - 1);
      return node;
    }
    auto& members = std::get<JsonNode::Members>(parent.value);
    members.push_back({key_, JsonNode()});
    JsonNode& node = members.back().node;
    node.pointer = pointer_to(parent.pointer, key_);
    return node;
  }

  JsonNode& root_;
  const Progress& progress_;
  std::vector<JsonNode*> open_;
  std::string key_;
};

}  // namespace

JsonError::JsonError(int at_line, std::string at_pointer, std::string what_is_wrong)
    : std::runtime_error(fmt::format("line {}: {}", at_line, what_is_wrong)),
      line(at_line),
      pointer(std::move(at_pointer)),
      problem(std::move(what_is_wrong)) {}

JsonNode::JsonNode() = default;
JsonNode::JsonNode(const JsonNode&) = default;
JsonNode::JsonNode(JsonNode&&) noexcept = default;
JsonNode& JsonNode::operator=(const JsonNode&) = default;
JsonNode& JsonNode::operator=(JsonNode&&) noexcept = default;
JsonNode::~JsonNode() = default;

const JsonNode* JsonNode::member(std::string_view key) const {
  const Members* all = members();
  if (all == nullptr) return nullptr;
  for (const auto& [name, node] : *all) {
    if (name == key) return &node;
  }
  return nullptr;
}

namespace {
constexpr std::size_t kLongestShown = 80;

// As a message can show it: control characters written out, what is long cut off.
std::string shown(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (out.size() >= kLongestShown) return out + "...";
    if (static_cast<unsigned char>(c) < ' ') {
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  return out;
}
}  // namespace

std::string JsonNode::describe() const {
  struct Describe {
    std::string operator()(Null) const { return "null"; }
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(std::int64_t n) const { return fmt::format("the number {}", n); }
    std::string operator()(std::uint64_t n) const { return fmt::format("the number {}", n); }
    std::string operator()(double n) const { return fmt::format("the number {}", n); }
    std::string operator()(const std::string& s) const { return '"' + shown(s) + '"'; }
    std::string operator()(const Items& i) const { return i.empty() ? "an empty array" : "an array"; }
    std::string operator()(const Members& m) const { return m.empty() ? "an empty object" : "an object"; }
  };
  return std::visit(Describe{}, value);
}

std::string pointer_to(const std::string& pointer, std::string_view key) {
  std::string text = pointer + "/";
  for (char c : key) {
    if (c == '~') {
      text += "~0";
    } else if (c == '/') {
      text += "~1";
    } else {
      text += c;
    }
  }
  return text;
}

std::string pointer_to(const std::string& pointer, std::size_t index) {
  return fmt::format("{}/{}", pointer, index);
}

JsonNode parse_located_json(std::string_view text) {
  JsonNode root;
  Progress progress;
  TreeBuilder builder(root, progress);
  const CountingIterator begin(text.data(), &progress);
  const CountingIterator end(text.data() + text.size(), &progress);
  nlohmann::json::sax_parse(begin, end, &builder);
  return root;
}

}  // namespace dtype_guard
