#include "analyzer/python/literals.h"

#include <charconv>

namespace dtype_guard::python {

std::optional<std::int64_t> written_integer(const Node& node) {
  if (node.is("unary_operator") && node.text().starts_with('-')) {
    const Node argument = node.field("argument");
    const auto inner = argument.is("integer") ? written_integer(argument) : std::nullopt;
    return inner ? std::optional(-*inner) : std::nullopt;
  }
  if (!node.is("integer")) return std::nullopt;
  std::string digits;
  for (const char c : node.text()) {
    if (c != '_') digits += c;
  }
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  return error == std::errc() && end == digits.data() + digits.size() ? std::optional(out) : std::nullopt;
}

std::optional<std::string> written_text(const Node& node) {
  if (!node.is("string") || node.text().starts_with('b')) return std::nullopt;
  std::string out;
  for (const Node& each : node.children()) {
    if (each.is("string_content")) out += each.text();
    if (each.is("interpolation")) return std::nullopt;
  }
  return out;
}

}  // namespace dtype_guard::python
