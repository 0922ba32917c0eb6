#include "rules/data/json_parser.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "rules/data/json_escape.h"
#include "rules/text/utf8.h"

namespace dtype_guard {
namespace {

constexpr std::size_t kTypicalChildren = 4;
constexpr std::size_t kFewKeys = 32;

// The keys of one object so far: a few are compared, many are looked up.
class Keys {
 public:
  bool is_new(const JsonNode& object, const JsonNode::Members& members, const std::string& key) {
    if (members.size() < kFewKeys) return object.member(key) == nullptr;
    if (many_.empty()) {
      for (const JsonMember& each : members) many_.insert(each.key);
    }
    return many_.insert(key).second;
  }

 private:
  std::unordered_set<std::string> many_;
};

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

JsonParser::JsonParser(JsonNode& root, std::string_view text, JsonNumbers numbers)
    : root_(root), places_(std::make_shared<JsonPlaces>()), numbers_(numbers) {
  constexpr std::size_t kTypicalValue = 16;  // bytes of text
  places_->text = text;
  places_->all.reserve(text.size() / kTypicalValue + 1);
  places_->all.push_back({});
  text_ = places_->text;
  root_.places_ = places_;
}

void JsonParser::parse() {
  if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
  skip_space();
  value(root_, 0);
  skip_space();
  open_ = nullptr;
  if (at_ < text_.size()) unexpected("the end of the text");
}

void JsonParser::value(JsonNode& node, int depth) {
  node.line = line_;
  switch (at_ < text_.size() ? text_[at_] : '\0') {
    case '{':
      return object(node, depth);
    case '[':
      return array(node, depth);
    case '"':
      ++at_;
      node.value = string();
      return;
    case 't':
    case 'f':
    case 'n':
      return word(node);
    default:
      return number(node);
  }
}

void JsonParser::enter(const JsonNode& node, int depth) {
  if (depth >= JsonNode::kMaxDepth) {
    throw JsonError(line_, open_->pointer(),
                    fmt::format("found nesting deeper than {}, expected less", JsonNode::kMaxDepth));
  }
  open_ = &node;
  ++at_;
  skip_space();
}

void JsonParser::object(JsonNode& node, int depth) {
  const JsonNode* const outer = open_;
  enter(node, depth);
  auto& members = node.value.emplace<JsonNode::Members>();
  members.reserve(kTypicalChildren);
  Keys keys;
  bool more = !take('}');
  while (more) {
    if (!take('"')) unexpected("a key in quotation marks");
    const std::size_t key_at = at_;
    std::string key = string();
    if (!keys.is_new(node, members, key)) {
      throw JsonError(line_, pointer_to(node.pointer(), key),
                      fmt::format("found the key \"{}\" twice, expected each key once", key));
    }
    skip_space();
    if (!take(':')) unexpected("':' after a key");
    skip_space();
    JsonMember& member = members.emplace_back();
    member.key = std::move(key);
    place(member.node, node, key_at, true);
    value(member.node, depth + 1);
    skip_space();
    more = take(',');
    if (more) {
      skip_space();
    } else if (!take('}')) {
      unexpected("',' or '}' after a member");
    }
  }
  open_ = outer;
}

void JsonParser::array(JsonNode& node, int depth) {
  const JsonNode* const outer = open_;
  enter(node, depth);
  auto& items = node.value.emplace<JsonNode::Items>();
  items.reserve(kTypicalChildren);
  bool more = !take(']');
  while (more) {
    JsonNode& item = items.emplace_back();
    place(item, node, items.size() - 1, false);
    value(item, depth + 1);
    skip_space();
    more = take(',');
    if (more) {
      skip_space();
    } else if (!take(']')) {
      unexpected("',' or ']' after an item");
    }
  }
  open_ = outer;
}

bool JsonParser::number_of_python(JsonNode& node) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr std::array<std::pair<std::string_view, double>, 3> kWords = {
      {{"NaN", std::numeric_limits<double>::quiet_NaN()},
       {"Infinity", kInfinity},
       {"-Infinity", -kInfinity}}};
  for (const auto& [word, value] : kWords) {
    if (!text_.substr(at_).starts_with(word)) continue;
    node.value = value;
    at_ += word.size();
    return true;
  }
  return false;
}

// An integer that fits keeps its type, also when it is written 2.0 or 2e3, as JSON Schema has it; every other
// number is a double.
void JsonParser::number(JsonNode& node) {
  if (numbers_ == JsonNumbers::kOfPython && number_of_python(node)) return;
  const std::size_t begin = at_;
  const auto digits = [this] {
    if (at_ >= text_.size() || !is_digit(text_[at_])) unexpected("a digit");
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
  };
  const bool negative = take('-');
  if (!negative && (at_ >= text_.size() || !is_digit(text_[at_]))) unexpected("a value");
  if (!take('0')) digits();
  bool integer = true;
  if (take('.')) {
    integer = false;
    digits();
  }
  if (take('e') || take('E')) {
    integer = false;
    if (!take('+')) take('-');
    digits();
  }
  const char* const first = text_.data() + begin;
  const char* const last = text_.data() + at_;
  std::int64_t whole = 0;
  std::uint64_t large = 0;
  double real = 0;
  if (integer && std::from_chars(first, last, whole).ec == std::errc()) {
    node.value = whole;
  } else if (integer && !negative && std::from_chars(first, last, large).ec == std::errc()) {
    node.value = large;
  } else if (std::from_chars(first, last, real).ec == std::errc()) {
    constexpr double kExact = 9007199254740992;  // 2^53: up to there a double says which integer is meant
    const bool exact = std::trunc(real) == real && std::abs(real) <= kExact;
    if (exact) {
      node.value = static_cast<std::int64_t>(real);
    } else {
      node.value = real;
    }
  } else {
    // Too small is as good as 0; too large is nothing.
    const std::string written(first, last);
    real = std::strtod(written.c_str(), nullptr);
    if (numbers_ == JsonNumbers::kOfJson && (real > 1 || real < -1)) {
      throw JsonError(line_, open_ == nullptr ? "" : open_->pointer(),
                      fmt::format("found malformed JSON: number overflow parsing '{}'", written));
    }
    node.value = real;
  }
}

void JsonParser::word(JsonNode& node) {
  const std::string_view rest = text_.substr(at_);
  if (rest.starts_with("true")) {
    node.value = true;
    at_ += 4;
  } else if (rest.starts_with("false")) {
    node.value = false;
    at_ += 5;
  } else if (rest.starts_with("null")) {
    node.value = JsonNode::Null{};
    at_ += 4;
  } else {
    unexpected("a value");
  }
}

// From behind the opening quotation mark to behind the closing one.
std::string JsonParser::string() {
  std::string made;
  std::size_t begin = at_;
  for (;;) {
    const unsigned char c = at_ < text_.size() ? static_cast<unsigned char>(text_[at_]) : 0;
    if (c == '"') break;
    if (c == '\\') {
      made.append(text_, begin, at_ - begin);
      ++at_;
      escape(made);
      begin = at_;
    } else if (c < ' ') {
      unexpected("the end of a string");
    } else if (c < 0x80) {
      ++at_;
    } else {
      const Utf8Character character = utf8_character(text_, at_);
      if (!character.valid) malformed("a string with bytes that are no UTF-8");
      at_ += character.length;
    }
  }
  made.append(text_, begin, at_ - begin);
  ++at_;
  return made;
}

void JsonParser::escape(std::string& to) {
  const EscapeProblem problem = read_escape(text_, at_, to);
  if (problem.is_malformed) malformed(problem.text);
  if (problem.text != nullptr) unexpected(problem.text);
}

void JsonParser::place(JsonNode& node, const JsonNode& parent, std::size_t at, bool is_member) {
  node.places_ = places_;
  node.place_ = static_cast<std::uint32_t>(places_->all.size());
  places_->all.push_back({parent.place_, is_member, at});
}

void JsonParser::skip_space() {
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_;
      line_start_ = at_ + 1;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      return;
    }
  }
}

bool JsonParser::take(char c) {
  if (at_ >= text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

void JsonParser::malformed(const std::string& what) const {
  throw JsonError(line_, open_ == nullptr ? "" : open_->pointer(),
                  fmt::format("found malformed JSON at column {}: {}", at_ - line_start_ + 1, what));
}

void JsonParser::unexpected(const std::string& expected) const {
  std::string found = "the end of the text";
  if (at_ < text_.size()) {
    const unsigned char c = static_cast<unsigned char>(text_[at_]);
    found = c >= ' ' && c < 0x7F ? fmt::format("'{}'", text_[at_]) : fmt::format("the byte 0x{:02x}", c);
  }
  malformed(found + ", expected " + expected);
}

JsonNode parse_located_json(std::string_view text, JsonNumbers numbers) {
  JsonNode root;
  JsonParser(root, text, numbers).parse();
  return root;
}

}  // namespace dtype_guard
