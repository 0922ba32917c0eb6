// What the three shells' completions share: names as a shell has them, and its quotes.
#pragma once

#include <string>
#include <vector>

#include "rules/command_line/command_outline.h"

namespace dtype_guard::shell {

std::string replaced(std::string text, const std::string& what, const std::string& with);
// "dtype-lint" as the name of a function.
std::string function_name(const std::string& command);
std::string quoted(const std::string& text);
std::vector<std::string> option_names(const CommandOutline& command);
std::vector<std::string> command_names(const CommandOutline& command);

}  // namespace dtype_guard::shell
