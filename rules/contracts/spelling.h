// The names that calls go by in contract files: qualified ones, without what a call adds to a name.
#pragma once

#include <string>
#include <string_view>

namespace dtype_guard {

// Why no call ever has this name, in words that follow "a qualified name "; empty when one may.
std::string_view why_never_called(std::string_view spelling);
// The name that is meant by one that no call has: without what is too much; empty when there is none.
std::string nearest_called_name(std::string_view spelling);

// Whether it is a word of C++ for a type, such as "float", which no project can give a dtype.
bool is_builtin_type(std::string_view name);

}  // namespace dtype_guard
