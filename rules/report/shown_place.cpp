#include "rules/report/shown_place.h"

#include <fmt/format.h>

#include "rules/notebook/notebook.h"
#include "rules/text/printable.h"

namespace dtype_guard {

std::string shown_line(const SourceLocation& location) {
  if (location.file.empty()) return "(unknown place)";
  const std::string file = printable(location.file);
  if (const auto& cell = location.cell)
    return fmt::format("{}:{}", Notebook::cell_name(file, *cell), cell->line);
  return location.line < 1 ? file : fmt::format("{}:{}", file, location.line);
}

std::string shown_place(const SourceLocation& location) {
  const std::string line = shown_line(location);
  const int column = location.cell ? location.cell->column : location.column;
  if (location.file.empty() || location.line < 1 || column < 1) return line;
  return fmt::format("{}:{}", line, column);
}

std::string cell_words(const SourceLocation& location) {
  return location.cell ? fmt::format(" (cell {}, line {})", location.cell->number, location.cell->line) : "";
}

}  // namespace dtype_guard
