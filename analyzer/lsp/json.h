// JSON that may be anything: members are asked for with what holds where they are missing or of another kind,
// so that no message of a client can throw.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/lsp/positions.h"

namespace dtype_guard::lsp {

using Json = nlohmann::json;

// The value below these members; null where one is missing.
template <typename... Names>
const Json& at(const Json& from, const Names&... names) {
  static const Json null;
  const Json* out = &from;
  for (const std::string_view name : {std::string_view(names)...}) {
    if (!out->is_object()) return null;
    const auto found = out->find(name);
    if (found == out->end()) return null;
    out = &*found;
  }
  return *out;
}

template <typename... Names>
std::string text_at(const Json& from, const Names&... names) {
  const Json& found = at(from, names...);
  return found.is_string() ? found.get<std::string>() : std::string();
}
template <typename... Names>
bool is_true_at(const Json& from, const Names&... names) {
  const Json& found = at(from, names...);
  return found.is_boolean() && found.get<bool>();
}
// The elements of an array; of anything else none.
template <typename... Names>
const Json& list_at(const Json& from, const Names&... names) {
  static const Json none = Json::array();
  const Json& found = at(from, names...);
  return found.is_array() ? found : none;
}

// Nothing where it is no position, such as one with a negative line.
std::optional<Position> read_position(const Json& from);
std::optional<Range> read_range(const Json& from);
Json to_json(const Position& position);
Json to_json(const Range& range);

// Text that cannot be decoded becomes U+FFFD.
std::string dumped(const Json& value);
// Discarded when it is no JSON. Half of a surrogate pair, as JavaScript writes it, becomes U+FFFD.
Json parsed(std::string_view text);

}  // namespace dtype_guard::lsp
