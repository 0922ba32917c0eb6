// Response files: "@file" among arguments stands for the words in that file, quoted as GNU tools quote them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dtype_guard::source {

// Words are separated by white space; quotes group, a backslash takes the next character as it is.
std::vector<std::string> split_words(std::string_view text);
// Relative names are meant below `folder`. A file that cannot be read stays as it is written, as in GCC;
// nesting ends at a depth that no build reaches.
std::vector<std::string> with_response_files(const std::vector<std::string>& arguments,
                                             const std::string& folder);

}  // namespace dtype_guard::source
