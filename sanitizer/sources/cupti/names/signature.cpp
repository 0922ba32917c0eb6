#include "sanitizer/sources/cupti/names/signature.h"

namespace dtype_guard::san::cupti {

namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";

bool is_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Walks over text and knows how deep in brackets it is. The operators that look like brackets ("operator<",
// "->") do not count.
class BracketScan {
 public:
  explicit BracketScan(std::string_view text) : text_(text) {}

  bool at_end() const { return position_ >= text_.size(); }
  std::size_t position() const { return position_; }
  int depth() const { return depth_; }
  char here() const { return text_[position_]; }

  void advance() {
    if (skip_operator()) return;
    const char c = text_[position_];
    if (c == '<' || c == '(' || c == '[' || c == '{') {
      ++depth_;
    } else if (c == '>' || c == ')' || c == ']' || c == '}') {
      if (c != '>' || position_ == 0 || text_[position_ - 1] != '-') --depth_;
    }
    ++position_;
  }

 private:
  bool skip_operator() {
    constexpr std::string_view kWord = "operator";
    if (here() != 'o' || text_.substr(position_, kWord.size()) != kWord) return false;
    if (position_ > 0 && is_identifier(text_[position_ - 1])) return false;
    std::size_t end = position_ + kWord.size();
    if (text_.substr(end, 2) == "()") {
      end += 2;
    } else {
      while (end < text_.size() &&
             std::string_view("<>=-+*/%^&|~!,[]").find(text_[end]) != std::string_view::npos)
        ++end;
    }
    position_ = end;
    return true;
  }

  std::string_view text_;
  std::size_t position_ = 0;
  int depth_ = 0;
};

// The text between the bracket at `open` and the one of its kind that closes it.
std::optional<std::string_view> enclosed(std::string_view text, std::size_t open) {
  BracketScan scan(text.substr(open));
  scan.advance();
  while (!scan.at_end()) {
    scan.advance();
    if (scan.depth() > 0) continue;
    if (text[open + scan.position() - 1] != (text[open] == '<' ? '>' : ')')) return std::nullopt;
    return text.substr(open + 1, scan.position() - 2);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Signature> split_signature(std::string_view demangled) {
  Signature signature;
  std::size_t start = 0;
  std::size_t at = 0;
  while (at < demangled.size()) {
    const char c = demangled[at];
    if (demangled.substr(at, kAnonymous.size()) == kAnonymous) {
      at += kAnonymous.size();
    } else if (c == ' ') {  // what came before is the return type
      start = ++at;
      signature = {};
    } else if (c == '<') {
      const auto inside = enclosed(demangled, at);
      if (!inside) return std::nullopt;
      signature = {demangled.substr(start, at - start), *inside};
      at += inside->size() + 2;
      // "Scope<int>::kernel": the name goes on behind the scope's arguments
      if (demangled.substr(at, 2) == "::") {
        at += 2;
        start = at;
        signature = {};
      }
    } else if (c == '(') {
      break;
    } else if (c == '>' || c == ')') {
      return std::nullopt;
    } else {
      ++at;
    }
  }
  if (signature.name.empty()) signature.name = demangled.substr(start, at - start);
  if (signature.name.empty()) return std::nullopt;
  return signature;
}

std::optional<std::string_view> list_item(std::string_view list, std::size_t index) {
  BracketScan scan(list);
  std::size_t begin = 0;
  while (!scan.at_end()) {
    if (scan.depth() == 0 && scan.here() == ',') {
      if (index == 0) return trimmed(list.substr(begin, scan.position() - begin));
      --index;
      begin = scan.position() + 1;
    }
    scan.advance();
    if (scan.depth() < 0) return std::nullopt;
  }
  if (index != 0 || scan.depth() != 0) return std::nullopt;
  const std::string_view item = trimmed(list.substr(begin));
  if (item.empty()) return std::nullopt;
  return item;
}

std::optional<std::string_view> type_item(std::string_view list, std::size_t index) {
  constexpr std::size_t kMostItems = 64;  // no kernel comes near; keeps a hostile list linear
  for (std::size_t i = 0; i < kMostItems; ++i) {
    const auto item = list_item(list, i);
    if (!item) return std::nullopt;
    const char first = item->empty() ? '0' : item->front();
    const bool value = (first >= '0' && first <= '9') || first == '-' || first == '&' || *item == "true" ||
                       *item == "false" || (first == '(' && item->substr(0, kAnonymous.size()) != kAnonymous);
    if (value) continue;
    if (index == 0) return item;
    --index;
  }
  return std::nullopt;
}

std::optional<std::string_view> arguments_of(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t open = at + name.size();
    if (open >= text.size() || text[open] != '<') continue;
    if (at > 0 && is_identifier(text[at - 1])) continue;
    return enclosed(text, open);
  }
  return std::nullopt;
}

std::optional<std::string_view> lambda_parameters(std::string_view text, std::string_view function) {
  std::size_t at = text.find(function);
  if (at == std::string_view::npos) return std::nullopt;
  constexpr std::string_view kWord = "lambda";
  for (at = text.find(kWord, at); at != std::string_view::npos; at = text.find(kWord, at + 1)) {
    std::size_t open = at + kWord.size();
    while (open < text.size() && (text[open] == '\'' || (text[open] >= '0' && text[open] <= '9'))) ++open;
    if (open >= text.size() || text[open] != '(') continue;
    const auto inside = enclosed(text, open);
    if (!inside) return std::nullopt;
    if (!inside->empty()) return inside;
  }
  return std::nullopt;
}

}  // namespace dtype_guard::san::cupti
