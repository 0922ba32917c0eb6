// Which language a file is in, by its name.
#pragma once

#include <string_view>

namespace dtype_guard {

inline bool is_notebook(std::string_view file) { return file.ends_with(".ipynb"); }
// What Python's front end reads: notebooks too, whose language stands in them.
inline bool is_python(std::string_view file) {
  return file.ends_with(".py") || file.ends_with(".pyi") || is_notebook(file);
}

}  // namespace dtype_guard
