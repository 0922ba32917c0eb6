// The dimensions that a side of an equation names, "b h i d": letters, or words where names stand apart, as
// einops has them.
#pragma once

#include <cctype>
#include <cstddef>
#include <string_view>
#include <vector>

namespace dtype_guard::flow {

inline bool is_in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

inline bool names_stand_apart(std::string_view side) {
  for (std::size_t at = 1; at + 1 < side.size(); ++at) {
    if (side[at] == ' ' && is_in_name(side[at - 1]) && is_in_name(side[at + 1])) return true;
  }
  return false;
}

inline std::vector<std::string_view> names_in(std::string_view side, bool are_words) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at < side.size(); ++at) {
    if (!is_in_name(side[at])) continue;
    std::size_t end = at + 1;
    while (are_words && end < side.size() && is_in_name(side[end])) ++end;
    out.push_back(side.substr(at, end - at));
    at = end - 1;
  }
  return out;
}

}  // namespace dtype_guard::flow
