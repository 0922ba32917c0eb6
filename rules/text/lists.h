// Names in a row, as messages have them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dtype_guard {

// With "or" as the last word: "a", "a or b", "a, b or c".
std::string listed(const std::vector<std::string>& names, std::string_view last);
// "'a'", "'a' or 'b'", "'a', 'b' or 'c'"
std::string quoted_list(const std::vector<std::string>& names, std::string_view last);

}  // namespace dtype_guard
