// Where a report goes and in which format: --format FORMAT[=FILE], repeatable. Text goes to the terminal
// unless a format without a file is given.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "rules/report/format.h"
#include "rules/report/report.h"

namespace dtype_guard::san {

// Exit status 2, before anything starts.
struct UsageError {
  std::string message;
};

struct Output {
  const OutputFormat* format = find_format("text");
  std::string file;  // empty: the terminal; "-": standard output
};

// Throws UsageError for an unknown format.
std::vector<Output> parse_outputs(const std::vector<std::string>& formats);

// Of --frames; throws UsageError for an unknown word.
Frames parse_frames(const std::string& word);

// Throws UsageError when a report file cannot be written; creates those that do not exist.
void check_outputs(const std::vector<Output>& outputs);

// What could be written; a message on stderr says what not.
struct Written {
  bool terminal = true;
  bool files = true;
};
Written write_outputs(const std::vector<Output>& outputs, const Report& report, std::ostream& terminal,
                      const TextOptions& options);

}  // namespace dtype_guard::san
