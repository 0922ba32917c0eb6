// A compile command in Clang's words, and where Clang's own headers are.
#pragma once

#include <string>
#include <vector>

#include "analyzer/source/lowered_source.h"

namespace dtype_guard::clang_front_end {

using source::CompileCommand;

// The command as Clang takes it: other compilers' flags dropped, outputs removed, the resource directory and
// `extra_arguments` added.
std::vector<std::string> adjusted_command(const CompileCommand& command,
                                          const std::vector<std::string>& extra_arguments);

// The program that compiles, without what starts it.
std::string compiler_of(const CompileCommand& command);

// Where Clang's own headers are; empty when they are nowhere to be found. looked_in() names the places.
std::string resource_directory();
std::vector<std::string> resource_directories_looked_in();
std::string llvm_version();

}  // namespace dtype_guard::clang_front_end
