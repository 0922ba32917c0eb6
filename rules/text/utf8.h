// UTF-8 that may be broken. File names and source lines are bytes, and every report format but text has to be
// valid UTF-8, so whatever cannot be decoded becomes U+FFFD, as browsers and Node do it: one for each longest
// start of a sequence.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dtype_guard {

struct Utf8Character {
  char32_t code = 0xFFFD;
  std::size_t length = 1;  // bytes that it takes, at least 1
  bool valid = false;
};

// The character at `at`, which is less than the text's size.
Utf8Character utf8_character(std::string_view text, std::size_t at);

void append_valid_utf8(std::string& to, std::string_view text);
std::string valid_utf8(std::string_view text);

// The first bytes of it, as many as `limit` allows without a part of a character.
std::string_view first_bytes(std::string_view text, std::size_t limit);

// How many UTF-16 code units the text takes; what editors and SARIF count columns in.
std::size_t utf16_length(std::string_view text);

}  // namespace dtype_guard
