// What the result for one source file rests on: the files that were read, and the folders in which names were
// looked for. A cache that checks both notices an edited header and also one that now hides another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dtype_guard::source {

// A file as it was when it was read.
struct ReadFile {
  std::string path;  // absolute
  std::uint64_t size = 0;
  std::int64_t modified = 0;  // nanoseconds; 0: so recently that its time does not tell versions apart
  std::uint64_t hash = 0;     // XXH3 of the content
};
// While its time is unchanged, no name in it has come or gone.
struct SearchedFolder {
  std::string path;
  std::int64_t modified = 0;  // as above
  std::vector<std::string> absent;
  std::vector<std::string> present;  // seen, but not read
};
struct Dependencies {
  std::vector<ReadFile> files;
  std::vector<SearchedFolder> folders;
  bool refused = false;  // something that is there could not be read: nothing above tells when it can be
};

}  // namespace dtype_guard::source
