// The text in whose lines a program is evaluated: a file's own, and of a notebook the Python of its cells;
// and the way back from there to cells and to the notebook's file.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/driver/edited_text.h"
#include "rules/notebook/notebook.h"
#include "rules/report/report.h"
#include "rules/report/source_files.h"

namespace dtype_guard::driver {

class CodeOfFiles {
 public:
  // `texts` stand for what is on disk, by report name. Both are kept by reference.
  CodeOfFiles(SourceFiles& disk, const std::map<std::string, std::string>& texts)
      : disk_(disk), texts_(texts) {}

  // nullptr where it cannot be read.
  const std::string* text(const std::string& file);
  // nullptr where the file is none, or cannot be read.
  const Notebook* notebook(const std::string& file);

  void note_cell(SourceLocation& location);
  // Of everything that a report says, and in places that its words name.
  void note_cells(Report& report);
  std::string with_cells(const std::string& words);
  // From the lines of the code to those of the file.
  void count_in_file(Finding& finding);
  void count_in_files(Report& report);

 private:
  void count_in_file(SourceLocation& location);
  // Whether all edits of the fix can be made in their files.
  bool count_in_file(Fix& fix);

  SourceFiles& disk_;
  const std::map<std::string, std::string>& texts_;
  std::map<std::string, std::optional<Notebook>> given_;
  std::vector<std::string> names_;  // of notebooks that were asked for
};

// Edits of a notebook's code in its file; empty where one of them is not within one string of a cell.
std::vector<ByteEdit> edits_in_file(const Notebook& notebook, const std::vector<ByteEdit>& edits);

}  // namespace dtype_guard::driver
