// The words that options with a fixed set of values take: what is checked, and what shells complete.
#pragma once

#include <string>
#include <vector>

#include "rules/command_line/command_outline.h"

namespace dtype_guard::driver {

// By the option's long name; those of the tool, without what configuration files and --contracts add.
const Choices& option_choices();

}  // namespace dtype_guard::driver
