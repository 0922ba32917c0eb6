// The source files below a folder: those that git does not ignore, and never what environments, builds and
// caches hold.
#pragma once

#include <string>
#include <vector>

namespace dtype_guard::driver {

struct FoundFiles {
  std::vector<std::string> python;  // absolute, sorted
  std::vector<std::string> cxx;     // sources, not headers
};

// `pattern` is that of a SOURCE: an absolute path with `*` for any characters; "/a/b/*" is all below /a/b.
FoundFiles files_matching(const std::string& pattern);

}  // namespace dtype_guard::driver
