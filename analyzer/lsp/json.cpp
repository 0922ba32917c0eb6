#include "analyzer/lsp/json.h"

#include <algorithm>
#include <charconv>

namespace dtype_guard::lsp {

namespace {

std::optional<std::size_t> whole_number(const Json& from) {
  constexpr std::uint64_t kMost = INT32_MAX;  // LSP's uinteger
  if (!from.is_number_unsigned()) return std::nullopt;
  const std::uint64_t number = from.get<std::uint64_t>();
  return number <= kMost ? std::optional<std::size_t>(number) : std::nullopt;
}

}  // namespace

std::optional<Position> read_position(const Json& from) {
  const std::optional<std::size_t> line = whole_number(at(from, "line"));
  const std::optional<std::size_t> character = whole_number(at(from, "character"));
  if (!line || !character) return std::nullopt;
  return Position{*line, *character};
}

std::optional<Range> read_range(const Json& from) {
  const std::optional<Position> start = read_position(at(from, "start"));
  const std::optional<Position> end = read_position(at(from, "end"));
  if (!start || !end) return std::nullopt;
  return Range{*start, *end};
}

Json to_json(const Position& position) {
  return {{"line", position.line}, {"character", position.character}};
}
Json to_json(const Range& range) { return {{"start", to_json(range.start)}, {"end", to_json(range.end)}}; }

std::string dumped(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

namespace {

// The code unit that "\\uD83D" at `at` stands for; nothing where that is something else.
std::optional<unsigned> escaped_unit(std::string_view text, std::size_t at) {
  constexpr std::size_t kDigits = 4;
  if (at + 2 + kDigits > text.size() || text[at] != '\\' || text[at + 1] != 'u') return std::nullopt;
  unsigned out = 0;
  const char* first = text.data() + at + 2;
  const auto [end, wrong] = std::from_chars(first, first + kDigits, out, 16);
  return wrong == std::errc() && end == first + kDigits ? std::optional(out) : std::nullopt;
}

// Strings of JavaScript may hold half of a surrogate pair, which no UTF-8 has.
std::string without_lone_surrogates(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '\\') {
      out += text[at++];
      continue;
    }
    const std::optional<unsigned> unit = escaped_unit(text, at);
    const bool is_high = unit && *unit >= 0xD800 && *unit < 0xDC00;
    const std::optional<unsigned> next = is_high ? escaped_unit(text, at + 6) : std::nullopt;
    const bool is_pair = next && *next >= 0xDC00 && *next < 0xE000;
    const bool is_lone = unit && *unit >= 0xD800 && *unit < 0xE000 && !is_pair;
    const std::size_t length = std::min<std::size_t>(is_pair ? 12 : unit ? 6 : 2, text.size() - at);
    out += is_lone ? std::string_view("\\ufffd") : text.substr(at, length);
    at += length;
  }
  return out;
}

}  // namespace

Json parsed(std::string_view text) {
  Json out = Json::parse(text, nullptr, false);
  const bool may_be_lone = out.is_discarded() && text.find("\\u") != std::string_view::npos;
  return may_be_lone ? Json::parse(without_lone_surrogates(text), nullptr, false) : out;
}

}  // namespace dtype_guard::lsp
