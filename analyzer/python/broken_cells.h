// Cells of a notebook that are no Python. One that is not ends with itself: what follows is read as if it
// were not there, and the error is told in its own lines.
#pragma once

#include <string>
#include <vector>

#include "analyzer/python/project_options.h"
#include "analyzer/python/syntax.h"
#include "rules/notebook/notebook.h"

namespace dtype_guard::python {

struct BrokenCells {
  std::vector<SourceError> errors;  // at most a few, with the cell in the file's name
  std::string rest;                 // the code without these cells, in the same lines
};

// `all` is the notebook's code, parsed.
BrokenCells broken_cells(const Notebook& notebook, const Tree& all, int seconds);

}  // namespace dtype_guard::python
