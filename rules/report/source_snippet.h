// The source line of a location with a caret and tildes below it, as compilers print them. Tabs become
// blanks, control characters and broken UTF-8 a replacement, and a very long line is cut around the caret, so
// that whatever stands in a source file cannot disturb the terminal.
#pragma once

#include <filesystem>
#include <string>

#include "rules/finding/finding.h"
#include "rules/report/source_files.h"

namespace dtype_guard {

class SourceSnippets {
 public:
  explicit SourceSnippets(std::filesystem::path root) : files_(std::move(root)) {}

  // Two lines with a gutter, each ending in a newline; empty when the file or the line cannot be read.
  std::string of(const SourceLocation& location);

 private:
  static std::string shown(std::string_view line, const SourceLocation& location);

  SourceFiles files_;
};

}  // namespace dtype_guard
