// A header is not compiled by itself: it is analysed through a source file that includes it, as is what a
// unity build compiles together.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "analyzer/clang/front_end.h"

namespace dtype_guard::driver {

using source::is_header;
using WantedFile = std::function<bool(const std::string& file)>;  // absolute
// By file that is wanted and included: the commands whose sources include it, through as few files between as
// possible first, by name among equals.
using HeaderUsers = std::map<std::string, std::vector<const source::CompileCommand*>>;
// Reads #include lines as text, so that a thousand sources cost little.
HeaderUsers commands_that_include(const WantedFile& wanted,
                                  const std::vector<source::CompileCommand>& commands,
                                  const source::UserCode& user_code);

// Whether the command's own file, such as that of a unity build, includes the user's sources.
bool includes_source(const source::CompileCommand& command, const source::UserCode& user_code);

}  // namespace dtype_guard::driver
