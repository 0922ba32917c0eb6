// Where libdtype_san.so lies, and under which name the dynamic loader can be given it.
#pragma once

#include <filesystem>
#include <string>

#include "sanitizer/launcher/executable.h"

namespace dtype_guard::san {

struct LibraryError {
  std::string message;
};

// `wanted` (--library), else $DTYPE_SAN_LIBRARY, else beside this command: ../lib, ../lib64, ../lib/ARCH.
// Throws LibraryError when it is missing or no library of this architecture.
std::filesystem::path find_library(const std::string& wanted);
ElfIdentity library_identity(const std::filesystem::path& library);

// LD_PRELOAD is split at spaces and colons, so a path that has one gets a link in `private_folder` instead.
// Throws LibraryError when that has one too.
std::filesystem::path preloadable_path(const std::filesystem::path& library,
                                       const std::filesystem::path& private_folder);

}  // namespace dtype_guard::san
