// Lines of Python as its tokenizer takes them, over brackets, strings and backslashes.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace dtype_guard {

struct LogicalLine {
  std::size_t end = 0;                 // behind its line end
  std::size_t last = 0;                // its last character that is neither blank nor comment
  bool asks = false;                   // it ends with a question mark, which no Python does
  std::optional<std::size_t> assigns;  // the first "=" that binds a name
};

// The one that begins at `at`.
LogicalLine logical_line(std::string_view text, std::size_t at);

}  // namespace dtype_guard
