// Completions for bash, zsh and fish, for a command with options or with commands of its own.
#pragma once

#include <string>

#include "rules/command_line/command_outline.h"

namespace dtype_guard {

std::string bash_completion(const CommandOutline& command);
std::string zsh_completion(const CommandOutline& command);
std::string fish_completion(const CommandOutline& command);

}  // namespace dtype_guard
