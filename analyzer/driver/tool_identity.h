// Which program this is. Every table and every line of it decides about the results that the cache keeps, so
// it goes by the linker's hash of its whole content (its build id), which is there without reading 60 MB.
#pragma once

#include <string>

namespace dtype_guard::driver {

// As hexadecimal digits; empty where it was linked without one.
std::string build_id();

}  // namespace dtype_guard::driver
