// A Jupyter notebook (nbformat 4) as one Python source: its code cells in their order, with what only IPython
// takes replaced, and where each line and byte of it stands in the cells and in the file. Outputs are checked
// as JSON and not kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "rules/finding/finding.h"

namespace dtype_guard {

// what() follows the file's name: "is no notebook: line 3: found ..., expected ...".
class NotebookError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Notebook {
 public:
  // Of the file's text; throws NotebookError. A file without any text is a notebook without cells.
  explicit Notebook(std::string_view file);

  // The Python source, in whose lines and bytes the arguments below count.
  const std::string& code() const { return code_; }
  // The language of its cells where that is not Python; there is no code then.
  const std::string& other_language() const { return language_; }

  // Where a range stands in the cells; nothing for what has no line.
  std::optional<NotebookCell> cell(const SourceLocation& range) const;
  // The range in the lines and columns of the file, with its cell.
  SourceLocation in_file(const SourceLocation& range) const;
  // "FILE:cell 3" with the line there, as people write the place of a code cell.
  static std::string cell_name(const std::string& file, const NotebookCell& cell);

  struct FileEdit {
    std::size_t begin = 0, end = 0;  // bytes of the file, in one line of it
    int line = 0, column = 0;        // of the first
    std::string replacement;         // as it stands in a JSON string
    NotebookCell cell;
  };
  // An edit of bytes of code() in the file's text; nothing where these are not all in one string of a cell,
  // or not as the cell has them.
  std::optional<FileEdit> edit(std::size_t begin, std::size_t end, std::string_view replacement) const;

  // A line of a cell as it was written; nothing where there is none.
  std::optional<std::string_view> line_of_cell(int number, int line) const;

  struct Cell {
    std::size_t begin = 0, end = 0;
    int line = 0;  // its first
  };
  const std::vector<Cell>& code_cells() const { return cells_; }

 private:
  friend class NotebookReader;

  // From this byte of the code on, up to the next step, what stands in the file goes along byte by byte.
  struct Step {
    std::uint32_t code = 0, file = 0;
    bool is_copy = false;
  };
  // The part of the code that one JSON string holds.
  struct Text {
    std::uint32_t code = 0;
    std::uint32_t file_end = 0;    // of the string
    std::uint32_t line_start = 0;  // in the file
    int line = 0;                  // of the file
  };
  struct Line {
    std::uint32_t code = 0;
    int cell = 0, line = 0;
  };
  // From there on, the columns of a line are so many more in the cell, where something was taken away.
  struct Shift {
    std::uint32_t code = 0;
    int columns = 0;
  };
  struct Replaced {
    int cell = 0, line = 0;
    std::string text;  // as it was
  };

  const Line* line_at(int line) const;
  int shift_at(const Line& line, std::size_t code) const;
  std::size_t offset(int line, int column) const;
  const Step& step_at(std::size_t code) const;
  const Text& text_at(std::size_t code) const;
  std::size_t file_offset(std::size_t code) const;
  // The end of a range, which may be where the next string begins.
  std::size_t file_end(std::size_t begin, std::size_t end) const;

  std::string code_, language_;
  std::vector<Cell> cells_;
  std::vector<Line> lines_;
  std::vector<Step> steps_;
  std::vector<Text> texts_;
  std::vector<Shift> shifts_;
  std::vector<Replaced> replaced_;
};

// Nothing where the text is none.
std::optional<Notebook> notebook_of(std::string_view file);

}  // namespace dtype_guard
