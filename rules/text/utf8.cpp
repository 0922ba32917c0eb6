#include "rules/text/utf8.h"

#include <cstdint>

namespace dtype_guard {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// What a lead byte promises: the length, and the bounds of the second byte, which rule out overlong forms,
// surrogates and code points above U+10FFFF.
struct Lead {
  std::size_t length = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
};

Lead lead_of(unsigned char byte) {
  if (byte >= 0xC2 && byte <= 0xDF) return {2};
  if (byte == 0xE0) return {3, 0xA0};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {3};
  if (byte == 0xF0) return {4, 0x90};
  if (byte >= 0xF1 && byte <= 0xF3) return {4};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {};
}

}  // namespace

Utf8Character utf8_character(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return {first, 1, true};
  Lead lead = lead_of(first);
  if (lead.length == 0) return {};
  char32_t code = first & (0xFFU >> (lead.length + 1));
  for (std::size_t i = 1; i < lead.length; ++i) {
    const auto byte = at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : std::uint8_t{0};
    if (byte < lead.low || byte > lead.high) return {0xFFFD, i, false};
    code = (code << 6U) | (byte & 0x3FU);
    lead.low = 0x80;
    lead.high = 0xBF;
  }
  return {code, lead.length, true};
}

void append_valid_utf8(std::string& to, std::string_view text) {
  std::size_t good = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Character character = utf8_character(text, at);
    if (!character.valid) {
      to.append(text.substr(good, at - good)).append(kReplacement);
      good = at + character.length;
    }
    at += character.length;
  }
  to.append(text.substr(good));
}

std::string_view first_bytes(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  std::size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end);
}

std::string valid_utf8(std::string_view text) {
  std::string valid;
  append_valid_utf8(valid, text);
  return valid;
}

std::size_t utf16_length(std::string_view text) {
  std::size_t units = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Character character = utf8_character(text, at);
    units += character.code > 0xFFFF ? 2 : 1;
    at += character.length;
  }
  return units;
}

}  // namespace dtype_guard
