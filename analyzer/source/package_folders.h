// Packages inside the project: an unpacked libtorch, a wheel's folder, a copied sysroot. Their headers are
// not the user's, whichever option of the compiler found them and whether or not a build system calls them
// SYSTEM. A folder is a package when it holds what only an installation has (CMake or pkg-config files), or
// the headers of a library whose functions the operator tables know; not when the source that is compiled
// lies in it too, for then the project is that library.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "analyzer/source/user_code.h"

namespace dtype_guard::source {

class PackageFolders {
 public:
  // `source`: the file that is compiled, absolute. Folders at or above `root` are no packages.
  PackageFolders(std::string root, std::string source, Exists exists);
  // Whether a package, below the root or outside of it, holds `file`, an absolute path.
  bool hold(const std::string& file);

 private:
  bool is_package(const std::string& folder);

  std::string root_, source_;
  Exists exists_;
  std::map<std::string, bool, std::less<>> known_;
};

}  // namespace dtype_guard::source
