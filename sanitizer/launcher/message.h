// What dtype-san says on stderr. That may be closed or on a full disk: a message that cannot be written is
// lost, and changes nothing else.
#pragma once

#include <fmt/format.h>

#include <iostream>
#include <utility>

namespace dtype_guard::san {

// One line, "dtype-san: ...".
template <typename... Values>
void tell(fmt::format_string<Values...> format, Values&&... values) {
  std::cerr.clear();  // an earlier message may have failed
  std::cerr << "dtype-san: " + fmt::format(format, std::forward<Values>(values)...) + '\n';
}

}  // namespace dtype_guard::san
