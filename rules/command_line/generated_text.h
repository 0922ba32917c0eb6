// What a tool prints of its own command line: a manual page, or completions for a shell.
#pragma once

#include <string>

#include "rules/command_line/command_outline.h"

namespace dtype_guard {

constexpr const char* kGenerateHelp = "Print a manual page (man) or completions for a shell: bash, fish, zsh";

// What --generate takes: "bash", "fish", "man", "zsh".
const std::vector<std::string>& generated_kinds();

// Empty where `kind` is none of these.
std::string generated_text(const std::string& kind, const CommandOutline& command,
                           const std::string& edition);

}  // namespace dtype_guard
