// The sources that a report speaks of, read once each from below its root. A file that cannot be read, or
// that is too large to be source, has no text; the formats then leave out what they would show of it.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rules/notebook/notebook.h"

namespace dtype_guard {

class SourceFiles {
 public:
  explicit SourceFiles(std::filesystem::path root) : root_(std::move(root)) {}

  // nullptr when it cannot be read. `file` is relative to the root or absolute.
  const std::string* text(const std::string& file) { return of(file).text_or_null(); }
  // Where a file is a notebook that can be read: its cells, without the file's text.
  const Notebook* notebook(const std::string& file);
  // Lines end as compilers see it, at LF; a CR before it is not part of the line.
  const std::vector<std::string_view>& lines(const std::string& file) { return of(file).lines; }
  // Empty when there is no such line, which counts from 1.
  std::string_view line(const std::string& file, int number);

 private:
  struct Source {
    bool readable = false;
    std::string text;
    std::vector<std::string_view> lines;  // into text
    const std::string* text_or_null() const { return readable ? &text : nullptr; }
  };
  const Source& of(const std::string& file);

  std::filesystem::path root_;
  std::map<std::string, Source> files_;
  std::map<std::string, std::optional<Notebook>> notebooks_;
};

// Splits text at LF and drops a CR before it; text that ends in a newline has no further, empty line.
std::vector<std::string_view> lines_of(std::string_view text);

}  // namespace dtype_guard
