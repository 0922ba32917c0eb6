// How a place is written for people: "model.py:3:5", "train.ipynb:cell 2:3:5".
#pragma once

#include <string>

#include "rules/finding/finding.h"

namespace dtype_guard {

std::string shown_place(const SourceLocation& location);
// Without the column.
std::string shown_line(const SourceLocation& location);
// " (cell 2, line 3)" for a message beside a line of the file; empty where there are no cells.
std::string cell_words(const SourceLocation& location);

}  // namespace dtype_guard
