// The Clang front end's whole surface, free of Clang's headers: one source file and its command line in,
// dtype-flow IR out. Parse errors are part of the answer, because a file with errors must never pass as
// clean.
#pragma once

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "analyzer/source/lowered_source.h"
#include "analyzer/source/user_code.h"
#include "rules/contracts/contract.h"

namespace dtype_guard::clang_front_end {

using source::CompileCommand;
using source::LoweredSource;
using source::SourceError;
using source::UserCode;

struct LoweringOptions {
  UserCode user_code;
  const ContractSet* contracts = nullptr;  // the calls that are sinks; null: those built in
  std::vector<std::string> extra_arguments;
  std::map<std::string, std::string> files;  // text of files that are not on disk, by absolute path
  bool record_dependencies = false;
};

// False in a build without Clang, in which every C++ file is one that cannot be read.
bool is_built_in();

LoweredSource lower(const CompileCommand& command, const LoweringOptions& options);

// The command as Clang takes it: other compilers' flags dropped, outputs removed, resource directory added.
std::vector<std::string> adjusted_command(const CompileCommand& command, const LoweringOptions& options);

// Where Clang's own headers are; empty when they are nowhere to be found. looked_in() names the places.
std::string resource_directory();
std::vector<std::string> resource_directories_looked_in();
std::string llvm_version();

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
