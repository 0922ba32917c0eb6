#include "rules/data/json_escape.h"

#include <charconv>
#include <optional>
#include <system_error>

namespace dtype_guard {
namespace {

void append_utf8(std::string& to, unsigned code) {
  const auto tail = [&](unsigned shift) { to += static_cast<char>(0x80U | ((code >> shift) & 0x3FU)); };
  if (code < 0x80) {
    to += static_cast<char>(code);
  } else if (code < 0x800) {
    to += static_cast<char>(0xC0U | (code >> 6U));
    tail(0);
  } else if (code < 0x10000) {
    to += static_cast<char>(0xE0U | (code >> 12U));
    tail(6);
    tail(0);
  } else {
    to += static_cast<char>(0xF0U | (code >> 18U));
    tail(12);
    tail(6);
    tail(0);
  }
}

bool take(std::string_view text, std::size_t& at, char c) {
  if (at >= text.size() || text[at] != c) return false;
  ++at;
  return true;
}

std::optional<unsigned> hexadecimal(std::string_view text, std::size_t& at) {
  unsigned code = 0;
  const std::size_t end = at + 4;
  if (end > text.size() || text[at] == '-') return std::nullopt;
  if (std::from_chars(text.data() + at, text.data() + end, code, 16).ptr != text.data() + end)
    return std::nullopt;
  at = end;
  return code;
}

}  // namespace

EscapeProblem read_escape(std::string_view text, std::size_t& at, std::string& to) {
  constexpr std::string_view kWritten = "\"\\/bfnrt";
  constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
  constexpr const char* kDigits = "four hexadecimal digits";
  const char c = at < text.size() ? text[at] : '\0';
  const std::size_t which = c == '\0' ? std::string_view::npos : kWritten.find(c);
  if (which != std::string_view::npos) {
    to += kMeant[which];
    ++at;
    return {};
  }
  if (!take(text, at, 'u')) return {"an escape such as \\n after a backslash"};
  std::optional<unsigned> code = hexadecimal(text, at);
  if (!code) return {kDigits};
  if (*code >= 0xD800 && *code < 0xDC00) {
    if (!take(text, at, '\\') || !take(text, at, 'u')) return {"the second half of a surrogate pair"};
    const std::optional<unsigned> low = hexadecimal(text, at);
    if (!low) return {kDigits};
    if (*low < 0xDC00 || *low > 0xDFFF) return {"a surrogate pair without its second half", true};
    code = 0x10000 + ((*code - 0xD800) << 10U) + (*low - 0xDC00);
  } else if (*code >= 0xDC00 && *code < 0xE000) {
    return {"the second half of a surrogate pair without its first", true};
  }
  append_utf8(to, *code);
  return {};
}

std::string json_string_at(std::string_view text, std::size_t at) {
  std::string made;
  while (at < text.size() && text[at] != '"') {
    if (text[at] != '\\') {
      made += text[at++];
    } else {
      ++at;
      (void)read_escape(text, at, made);
    }
  }
  return made;
}

}  // namespace dtype_guard
