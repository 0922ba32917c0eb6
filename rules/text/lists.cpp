#include "rules/text/lists.h"

#include <cstddef>

namespace dtype_guard {
namespace {

std::string list(const std::vector<std::string>& names, std::string_view last, std::string_view mark) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i != 0 && i + 1 < names.size()) text += ", ";
    if (i != 0 && i + 1 == names.size()) text.append(" ").append(last).append(" ");
    text.append(mark).append(names[i]).append(mark);
  }
  return text;
}

}  // namespace

std::string listed(const std::vector<std::string>& names, std::string_view last) {
  return list(names, last, "");
}

std::string quoted_list(const std::vector<std::string>& names, std::string_view last) {
  return list(names, last, "'");
}

}  // namespace dtype_guard
