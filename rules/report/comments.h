// The comments of a source file, found as a compiler or Python would: not those in string literals. Only what
// suppressions need.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dtype_guard {

struct Comment {
  int line = 1;           // of its first character
  int column = 1;         // in bytes
  std::string_view text;  // with its marks; into the source
};

std::vector<Comment> cpp_comments(std::string_view source);
std::vector<Comment> python_comments(std::string_view source);

// The source with comments and the contents of literals blanked, every position where it was.
std::string code_of(std::string_view file, std::string_view source);

// By the file's name: .py and .pyi are Python, all else C++.
std::vector<Comment> comments_of(std::string_view file, std::string_view source);

}  // namespace dtype_guard
