// The journals of one run: files as named, and the *.dtype-san files of directories.
#pragma once

#include <string>
#include <vector>

#include "sanitizer/symbolize/journal_reader.h"

namespace dtype_guard::san {

// Thrown for a path that does not exist: a usage error, unlike a journal that is there and cannot be read.
struct MissingJournal {
  std::string message;
};

std::vector<Journal> load_journals(const std::vector<std::string>& paths);
// The journal files of a directory, sorted by name; none when it does not exist.
std::vector<std::string> journal_files(const std::string& directory);

}  // namespace dtype_guard::san
