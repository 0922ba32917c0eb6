// Headers of the standard library that exist but declare nothing for Clang.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace dtype_guard::clang_front_end {

// What a command line needs to find them: <stdfloat> is empty, or missing, before C++23.
std::vector<std::string> standard_arguments(const std::vector<std::string>& arguments);
// By absolute path.
const std::map<std::string, std::string>& standard_headers();

}  // namespace dtype_guard::clang_front_end
