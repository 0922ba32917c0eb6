// Which language a file is in, by its name.
#pragma once

#include <string_view>

namespace dtype_guard {

inline bool is_python(std::string_view file) { return file.ends_with(".py") || file.ends_with(".pyi"); }

}  // namespace dtype_guard
