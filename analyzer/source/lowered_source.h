// What a front end answers for one source file, whatever its language: the IR of its functions, its errors,
// and what the answer rests on. Errors are part of the answer, because a file with errors must never pass as
// clean.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/flow/ir/ir.h"
#include "analyzer/source/dependencies.h"
#include "rules/text/language.h"

namespace dtype_guard::source {

// One file and how it is read. For C++ a line of a compile database, arguments[0] is the compiler; for Python
// there are no arguments.
struct CompileCommand {
  std::string directory;
  std::string file;  // absolute
  std::vector<std::string> arguments;
};

struct SourceError {
  std::string file;  // as the report names it
  int line = 0;
  int column = 0;
  std::string message;
};

struct LoweredSource {
  flow::Module module;
  std::vector<SourceError> errors;  // what a compiler would report as errors, at most a few
  bool crashed = false;             // the parser itself failed on this file
  std::string torch_version;        // "1.13" where the source's headers or pins say it; else empty
  Dependencies dependencies;        // when asked for
};

using dtype_guard::is_python;
// By its name: a source or header of C, C++ or CUDA.
bool is_cxx(std::string_view file);

}  // namespace dtype_guard::source
