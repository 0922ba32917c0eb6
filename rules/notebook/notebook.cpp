#include "rules/notebook/notebook.h"

#include <fmt/format.h>

#include <algorithm>

namespace dtype_guard {
namespace {

// As it stands between the quotation marks of a JSON string.
std::string in_json(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < ' ') {
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  return out;
}

// The last of those that begin at or before a place; there is one.
template <typename Part>
const Part& last_before(const std::vector<Part>& parts, std::size_t code) {
  const auto behind = std::upper_bound(parts.begin(), parts.end(), code,
                                       [](std::size_t at, const Part& each) { return at < each.code; });
  return *(behind == parts.begin() ? behind : behind - 1);
}

}  // namespace

std::string Notebook::cell_name(const std::string& file, const NotebookCell& cell) {
  return fmt::format("{}:cell {}", file, cell.number);
}

const Notebook::Line* Notebook::line_at(int line) const {
  const bool is_there = line > 0 && static_cast<std::size_t>(line) <= lines_.size();
  return is_there ? &lines_[static_cast<std::size_t>(line) - 1] : nullptr;
}

std::size_t Notebook::offset(int line, int column) const {
  const std::size_t begin = lines_[static_cast<std::size_t>(line) - 1].code;
  const bool is_last = static_cast<std::size_t>(line) == lines_.size();
  const std::size_t end = is_last ? code_.size() : lines_[static_cast<std::size_t>(line)].code;
  return std::min(end, begin + static_cast<std::size_t>(std::max(column, 1)) - 1);
}

const Notebook::Step& Notebook::step_at(std::size_t code) const { return last_before(steps_, code); }
const Notebook::Text& Notebook::text_at(std::size_t code) const { return last_before(texts_, code); }

std::size_t Notebook::file_offset(std::size_t code) const {
  const Step& step = step_at(code);
  return step.is_copy ? step.file + (code - step.code) : step.file;
}

std::size_t Notebook::file_end(std::size_t begin, std::size_t end) const {
  if (end > begin && text_at(end).code == end && end > 0) return text_at(end - 1).file_end;
  return file_offset(end);
}

std::optional<NotebookCell> Notebook::cell(const SourceLocation& range) const {
  const Line* first = line_at(range.line);
  if (!first) return std::nullopt;
  const auto column = [&](const Line& line, int of_code, int number) {
    return number > 0 ? number + shift_at(line, offset(of_code, number)) : number;
  };
  NotebookCell out{first->cell, first->line, column(*first, range.line, range.column), 0, 0};
  if (const Line* last = line_at(range.end_line); last && last->cell == first->cell) {
    out.end_line = last->line;
    out.end_column = column(*last, range.end_line, range.end_column);
  }
  return out;
}

int Notebook::shift_at(const Line& line, std::size_t code) const {
  int out = 0;
  const auto first = std::lower_bound(shifts_.begin(), shifts_.end(), line.code,
                                      [](const Shift& each, std::size_t at) { return each.code < at; });
  for (auto each = first; each != shifts_.end() && each->code <= code; ++each) out += each->columns;
  return out;
}

SourceLocation Notebook::in_file(const SourceLocation& range) const {
  SourceLocation out = range;
  out.cell = cell(range);
  if (!out.cell || texts_.empty()) return out;
  const auto column_in = [](const Text& text, std::size_t at) {
    return static_cast<int>(at - text.line_start) + 1;
  };
  const std::size_t begin = offset(range.line, range.column);
  const Text& first = text_at(begin);
  out.line = first.line;
  out.column = range.column > 0 ? column_in(first, file_offset(begin)) : 0;
  out.end_line = out.end_column = 0;
  if (out.cell->end_line == 0) return out;
  const std::size_t end = offset(range.end_line, range.end_column);
  const Text& last = end > begin ? text_at(end - 1) : first;
  out.end_line = last.line;
  out.end_column = range.end_column > 0 ? column_in(last, file_end(begin, end)) : 0;
  return out;
}

std::optional<Notebook::FileEdit> Notebook::edit(std::size_t begin, std::size_t end,
                                                 std::string_view replacement) const {
  if (end < begin || end > code_.size() || texts_.empty()) return std::nullopt;
  const std::size_t last = end > begin ? end - 1 : begin;
  if (&text_at(begin) != &text_at(last)) return std::nullopt;
  const Step* const behind = &step_at(last) + 1;
  if (!std::all_of(&step_at(begin), behind, [](const Step& each) { return each.is_copy; }))
    return std::nullopt;
  const Text& text = text_at(begin);
  const std::size_t first = file_offset(begin);
  const Line& from = last_before(lines_, begin);
  const Line& to = last_before(lines_, last);
  const auto column = [&](const Line& line, std::size_t at) {
    return static_cast<int>(at - line.code) + 1 + shift_at(line, at);
  };
  return FileEdit{first,
                  file_end(begin, end),
                  text.line,
                  static_cast<int>(first - text.line_start) + 1,
                  in_json(replacement),
                  {from.cell, from.line, column(from, begin), to.line, column(to, end)}};
}

std::optional<std::string_view> Notebook::line_of_cell(int number, int line) const {
  const auto is_it = [&](const auto& each) { return each.cell == number && each.line == line; };
  if (const auto was = std::find_if(replaced_.begin(), replaced_.end(), is_it); was != replaced_.end())
    return was->text;
  const auto found = std::find_if(lines_.begin(), lines_.end(), is_it);
  if (found == lines_.end()) return std::nullopt;
  std::string_view text = std::string_view(code_).substr(found->code);
  text = text.substr(0, text.find('\n'));
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

}  // namespace dtype_guard
