// Lowers a piece of C++ and gives the printed IR of one function without positions, which is what most tests
// compare.
#pragma once

#include <string>
#include <vector>

#include "analyzer/clang/front_end.h"

namespace dtype_guard::clang_front_end {

// The code is a file of its own below /project, with mini_torch.h included before it.
LoweredSource lower_snippet(const std::string& code, const std::vector<std::string>& flags = {});
// Instructions of the function called `name`, one a line, without positions; the whole of what went wrong
// when there is no such function.
std::string body(const std::string& code, const std::string& name);
// The same with positions and texts.
std::string body_with_positions(const LoweredSource& source, const std::string& name);
bool contains(const std::string& text, const std::string& part);
std::string without_positions(const std::string& text);

}  // namespace dtype_guard::clang_front_end
