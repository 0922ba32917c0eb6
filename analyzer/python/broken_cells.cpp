#include "analyzer/python/broken_cells.h"

#include <algorithm>

namespace dtype_guard::python {

namespace {
constexpr std::size_t kMaxErrors = 5;

SourceError in_cell(const Notebook& notebook, const SourceError& error, int line) {
  SourceLocation place;
  place.line = line;
  place.column = error.column;
  const std::optional<NotebookCell> cell = notebook.cell(place);
  if (!cell) return error;
  return {Notebook::cell_name(error.file, *cell), std::max(cell->line, 1), cell->column, error.message};
}
}  // namespace

BrokenCells broken_cells(const Notebook& notebook, const Tree& all, int seconds) {
  BrokenCells out;
  if (all.errors().empty()) return out;
  out.rest = notebook.code();
  for (const Notebook::Cell& each : notebook.code_cells()) {
    const Tree alone(notebook.code().substr(each.begin, each.end - each.begin), all.name(), seconds);
    if (alone.errors().empty()) continue;
    const SourceError& first = alone.errors().front();
    if (out.errors.size() < kMaxErrors)
      out.errors.push_back(in_cell(notebook, first, each.line + std::max(first.line, 1) - 1));
    std::replace_if(
        out.rest.begin() + static_cast<std::ptrdiff_t>(each.begin),
        out.rest.begin() + static_cast<std::ptrdiff_t>(each.end), [](char c) { return c != '\n'; }, ' ');
  }
  // Cells that are Python each, and not together.
  if (out.errors.empty()) {
    for (const SourceError& each : all.errors()) out.errors.push_back(in_cell(notebook, each, each.line));
    out.rest.clear();
  }
  return out;
}

}  // namespace dtype_guard::python
