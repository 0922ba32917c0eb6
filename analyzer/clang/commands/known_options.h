// What of a command line Clang knows, by its own table of options.
#pragma once

#include <string>
#include <vector>

namespace dtype_guard::clang_front_end {

// Options with their values; what Clang does not know and what is no option (inputs) is left out. An option
// whose value is missing is, too.
std::vector<std::string> known_options(const std::vector<std::string>& arguments);

}  // namespace dtype_guard::clang_front_end
