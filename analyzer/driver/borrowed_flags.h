// A file that the compile database does not name is read as its nearest neighbour there is compiled.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/source/lowered_source.h"

namespace dtype_guard::driver {

struct BorrowedFlags {
  source::CompileCommand command;  // of the file itself
  std::string from;                // absolute
};

// The neighbour is of the file's language where there is one, in the nearest folder, and of its name before
// others there. Nothing for what is no source of C, C++ or CUDA.
std::optional<BorrowedFlags> borrowed_flags(const std::string& file,
                                            const std::vector<source::CompileCommand>& all);

}  // namespace dtype_guard::driver
