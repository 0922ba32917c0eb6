#include "rules/text/printable.h"

#include <fmt/format.h>

#include <algorithm>

#include "rules/text/utf8.h"

namespace dtype_guard {

std::string printable(std::string_view text) {
  const auto is_plain = [](unsigned char c) { return c >= 0x20 && c < 0x7F; };  // as nearly all text is
  if (std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Character character = utf8_character(text, at);
    const bool control =
        character.valid && (character.code < 0x20 || (character.code >= 0x7F && character.code < 0xA0));
    if (control) {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned>(character.code));
    } else if (!character.valid) {
      for (const char byte : text.substr(at, character.length))
        shown += fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(byte)));
    } else {
      shown += text.substr(at, character.length);
    }
    at += character.length;
  }
  return shown;
}

std::string printable_command(std::string_view command) {
  constexpr std::size_t kShown = 300;
  const std::string text = printable(command);
  if (text.size() <= kShown) return text;
  return std::string(first_bytes(text, kShown)) + "...";
}

}  // namespace dtype_guard
