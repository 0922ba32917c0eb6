// The command line of dtype-lint, checked: everything that can be wrong on a command line is found here,
// before any file is read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/driver/options.h"

namespace dtype_guard::driver {

// What depends on the project, once it is known: versions of libraries by its environment and pins, and the
// lines that were changed since --diff-base.
void settle_project(Options& options, const std::string& root);

struct CommandLine {
  std::optional<int>
      exit;  // set when there is nothing more to do: --help, --version, --explain, --list-rules
  Options options;
};
// Prints what --help and its kin print. Throws UsageError.
CommandLine read_command_line(std::vector<std::string> words);

}  // namespace dtype_guard::driver
