// One line of IR text being read: takes words, quoted strings, numbers and punctuation, or says what was
// expected.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/flow/ir/mnemonics.h"
#include "analyzer/flow/ir/text.h"

namespace dtype_guard::flow {

class TextCursor {
 public:
  TextCursor(std::string_view line, int number) : rest_(line), number_(number) { skip_blanks(); }

  [[noreturn]] void expected(std::string_view what) const {
    if (rest_.empty()) throw TextError(number_, fmt::format("found the end of the line, expected {}", what));
    std::size_t length = word_length(rest_);
    if (length == 0)
      length = std::min<std::size_t>(rest_.size(), std::max<std::size_t>(1, rest_.find_first_of(" ,")));
    throw TextError(number_, fmt::format("found '{}', expected {}", rest_.substr(0, length), what));
  }
  int number() const { return number_; }
  bool at_end() const { return rest_.empty(); }
  bool next_is(char c) const { return !rest_.empty() && rest_[0] == c; }

  bool take(std::string_view token) {
    if (rest_.substr(0, token.size()) != token) return false;
    if (is_word_part(token.back()) && token.size() < rest_.size() && is_word_part(rest_[token.size()]))
      return false;
    rest_.remove_prefix(token.size());
    skip_blanks();
    return true;
  }
  void need(std::string_view token) {
    if (!take(token)) expected(fmt::format("'{}'", token));
  }

  std::optional<std::string> plain_word() {
    const std::size_t length = word_length(rest_);
    if (length == 0) return std::nullopt;
    return take_prefix(length);
  }
  std::string word(std::string_view what) {
    if (next_is('"')) return quoted(what);
    auto found = plain_word();
    if (!found) expected(what);
    return *found;
  }

  std::string quoted(std::string_view what) {
    if (!next_is('"')) expected(what);
    std::string out;
    std::size_t i = 1;
    for (; i < rest_.size() && rest_[i] != '"'; ++i) {
      if (rest_[i] != '\\') {
        out += rest_[i];
      } else if (i + 3 < rest_.size() && rest_[i + 1] == 'x') {
        unsigned code = 0;
        std::from_chars(rest_.data() + i + 2, rest_.data() + i + 4, code, 16);
        out += static_cast<char>(code);
        i += 3;
      } else if (i + 1 < rest_.size()) {
        out += rest_[++i];
      }
    }
    if (i >= rest_.size()) throw TextError(number_, "found a string without its closing quote");
    rest_.remove_prefix(i + 1);
    skip_blanks();
    return out;
  }

  template <typename T>
  std::optional<T> number_of() {
    T value{};
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc{}) return std::nullopt;
    take_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  template <typename T>
  T need_number(std::string_view what) {
    auto value = number_of<T>();
    if (!value) expected(what);
    return *value;
  }

  // The longest prefix that holds none of `stops`.
  std::string until(std::string_view stops) {
    return take_prefix(std::min(rest_.size(), rest_.find_first_of(stops)));
  }
  // The characters of a number: digits, sign, point, exponent, inf, nan.
  std::string number_characters() {
    return take_prefix(std::min(rest_.size(), rest_.find_first_not_of("+-.0123456789aefin")));
  }

 private:
  std::string take_prefix(std::size_t length) {
    std::string out(rest_.substr(0, length));
    rest_.remove_prefix(length);
    skip_blanks();
    return out;
  }
  void skip_blanks() { rest_.remove_prefix(std::min(rest_.size(), rest_.find_first_not_of(" \t\r"))); }

  std::string_view rest_;
  int number_;
};

}  // namespace dtype_guard::flow
