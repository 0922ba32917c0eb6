#include "rules/report/source_snippet.h"

#include <fmt/format.h>

#include <algorithm>

#include "rules/text/utf8.h"

namespace dtype_guard {
namespace {

constexpr std::size_t kTabWidth = 8;
constexpr std::size_t kLongestLine = 140;  // columns shown before a line is cut
constexpr std::size_t kLeadWhenCut = 40;   // columns kept before the caret

// One cell per column on the terminal, and for every byte of the line the column it falls in.
struct Rendered {
  std::vector<std::string> cells;
  std::vector<std::size_t> column_of_byte;  // one more than the line has bytes
};

// C0 and C1 control characters; the latter steer terminals too.
bool is_control(char32_t code) { return code < 0x20 || (code >= 0x7F && code < 0xA0); }

Rendered render(std::string_view line) {
  Rendered rendered;
  for (std::size_t at = 0; at < line.size();) {
    const Utf8Character character = utf8_character(line, at);
    rendered.column_of_byte.insert(rendered.column_of_byte.end(), character.length, rendered.cells.size());
    if (line[at] == '\t') {
      do {
        rendered.cells.emplace_back(" ");
      } while (rendered.cells.size() % kTabWidth != 0);
    } else if (!character.valid || is_control(character.code)) {
      rendered.cells.emplace_back("\xEF\xBF\xBD");
    } else {
      rendered.cells.emplace_back(line.substr(at, character.length));
    }
    at += character.length;
  }
  rendered.column_of_byte.push_back(rendered.cells.size());
  return rendered;
}

std::size_t column_at(const Rendered& rendered, int byte_column) {
  const auto byte = static_cast<std::size_t>(std::max(byte_column, 1) - 1);
  return rendered.column_of_byte[std::min(byte, rendered.column_of_byte.size() - 1)];
}

std::string marks(std::size_t caret, std::size_t end) {
  return std::string(caret, ' ') + '^' + std::string(end > caret + 1 ? end - caret - 1 : 0, '~');
}

}  // namespace

// In a notebook it is the cell's line that is shown.
std::string SourceSnippets::of(const SourceLocation& location) {
  if (location.line < 1 || location.file.empty()) return {};
  if (!location.cell) {
    const std::vector<std::string_view>& lines = files_.lines(location.file);
    if (static_cast<std::size_t>(location.line) > lines.size()) return {};
    return shown(lines[static_cast<std::size_t>(location.line) - 1], location);
  }
  const Notebook* notebook = files_.notebook(location.file);
  if (notebook == nullptr) return {};
  const NotebookCell& cell = *location.cell;
  const SourceLocation in_cell{"", cell.line, cell.column, cell.end_line, cell.end_column, ""};
  const std::optional<std::string_view> line = notebook->line_of_cell(cell.number, cell.line);
  return line ? shown(*line, in_cell) : std::string();
}

std::string SourceSnippets::shown(std::string_view line, const SourceLocation& location) {
  const Rendered rendered = render(line);

  const std::size_t caret = column_at(rendered, location.column);
  const bool ends_later = location.end_line > location.line;
  std::size_t end = ends_later ? rendered.cells.size() : column_at(rendered, location.end_column);

  std::size_t first = 0;
  if (rendered.cells.size() > kLongestLine && caret > kLeadWhenCut) first = caret - kLeadWhenCut;
  const std::size_t last = std::min(rendered.cells.size(), first + kLongestLine);
  end = std::max(std::min(end, last), caret);  // where no end is known there is but the caret

  std::string text;
  for (std::size_t i = first; i < last; ++i) text += rendered.cells[i];
  std::string snippet = fmt::format("{:>5} | {}{}{}\n", location.line, first > 0 ? "..." : "", text,
                                    last < rendered.cells.size() ? "..." : "");
  if (location.column < 1) return snippet;
  const std::size_t shift = first > 0 ? 3 : 0;
  return snippet + fmt::format("      | {}\n", marks(caret - first + shift, end - first + shift));
}

}  // namespace dtype_guard
