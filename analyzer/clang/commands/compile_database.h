// Compile databases: the compile_commands.json of a build folder.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "analyzer/source/lowered_source.h"

namespace dtype_guard::clang_front_end {

using source::CompileCommand;

// Thrown for a compile database that is missing or cannot be read; what() says what to do.
class CompileDatabaseError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
// The compile_commands.json in `folder`, in its order.
std::vector<CompileCommand> read_compile_database(const std::string& folder);
// The folder with compile_commands.json that serves `source`: the nearest one above it, or `build` below one
// of those.
std::optional<std::string> find_compile_database(const std::string& source);

}  // namespace dtype_guard::clang_front_end
