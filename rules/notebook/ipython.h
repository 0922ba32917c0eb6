// What a notebook's cells hold besides Python: IPython's magics, shell commands and questions, and cells that
// are handed to another language as a whole.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dtype_guard {

// A part of a cell that is not Python, and what stands for it: with as many line ends.
struct NotPython {
  std::size_t begin = 0, end = 0;
  std::string python;
};

// In order of place. Where nothing of the cell is Python, the whole cell is one of them.
std::vector<NotPython> not_python(std::string_view cell);

}  // namespace dtype_guard
