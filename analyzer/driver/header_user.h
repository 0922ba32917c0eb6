// A header is not compiled by itself: it is analysed through a source file that includes it, as is what a
// unity build compiles together.
#pragma once

#include <string>
#include <vector>

#include "analyzer/clang/front_end.h"

namespace dtype_guard::driver {

// By its name: .h, .hpp, .cuh and their kin.
bool is_header(const std::string& file);
// The command whose source includes `header` (absolute), through as few headers between as possible, first by
// name among equals; null when none does. Reads #include lines as text, so that a thousand sources cost
// little.
const clang_front_end::CompileCommand* command_that_includes(
    const std::string& header, const std::vector<clang_front_end::CompileCommand>& commands,
    const clang_front_end::UserCode& user_code);

// Whether the command's own file, such as that of a unity build, includes the user's sources.
bool includes_source(const clang_front_end::CompileCommand& command,
                     const clang_front_end::UserCode& user_code);

}  // namespace dtype_guard::driver
