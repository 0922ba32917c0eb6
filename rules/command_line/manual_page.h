// The manual page of a command, in the man macros: its options, its commands with theirs, and the sections of
// the text below --help ("Examples:", "Exit status: ...").
#pragma once

#include <string>

#include "rules/command_line/command_outline.h"

namespace dtype_guard {

// `edition` stands at the foot of the page: "dtype-guard 0.1.0".
std::string manual_page(const CommandOutline& command, const std::string& edition);

}  // namespace dtype_guard
