// The Clang front end's whole surface, free of Clang's headers: one source file and its command line in,
// dtype-flow IR out. Parse errors are part of the answer, because a file with errors must never pass as
// clean.
#pragma once

#include "analyzer/clang/commands/command_line.h"
#include "analyzer/clang/commands/compile_database.h"
#include "analyzer/clang/lowering/lowering_options.h"
#include "analyzer/source/lowered_source.h"

namespace dtype_guard::clang_front_end {

// False in a build without Clang, in which every C++ file is one that cannot be read.
bool is_built_in();

LoweredSource lower(const CompileCommand& command, const LoweringOptions& options);

}  // namespace dtype_guard::clang_front_end
