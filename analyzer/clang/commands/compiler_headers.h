// Headers that a compiler brings by itself and Clang does not, such as GCC's omp.h. They are looked for after
// all others, so that none of Clang's own is replaced by one that is written for another compiler.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace dtype_guard::clang_front_end {

// What a command of this compiler needs besides its own arguments. `clang`: Clang's resource directory.
std::vector<std::string> compiler_arguments(const std::string& compiler, const std::string& clang);
// The headers that those lead to, by absolute path: each includes that of the compiler.
std::map<std::string, std::string> compiler_headers(const std::string& compiler, const std::string& clang);

}  // namespace dtype_guard::clang_front_end
