#include "rules/report/source_snippet.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace dtype_guard {
namespace {

constexpr std::size_t kTabWidth = 8;
constexpr std::size_t kLongestLine = 140;  // columns shown before a line is cut
constexpr std::size_t kLeadWhenCut = 40;   // columns kept before the caret
constexpr std::uintmax_t kLargestFile = 16U << 20U;

// One cell per column on the terminal, and for every byte of the line the column it falls in.
struct Rendered {
  std::vector<std::string> cells;
  std::vector<std::size_t> column_of_byte;  // one more than the line has bytes
};

std::size_t sequence_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  if (lead >= 0xF0 && lead < 0xF5) return 4;
  return 0;
}

bool is_complete(const std::string& line, std::size_t at, std::size_t length) {
  if (length == 0 || at + length > line.size()) return false;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(line[at + i]) & 0xC0U) != 0x80U) return false;
  }
  return true;
}

// C0 and C1 control characters; the latter steer terminals too.
bool is_control(const std::string& line, std::size_t at, std::size_t length) {
  const auto lead = static_cast<unsigned char>(line[at]);
  if (length == 1) return lead < 0x20 || lead == 0x7F;
  return length == 2 && lead == 0xC2 && static_cast<unsigned char>(line[at + 1]) < 0xA0;
}

Rendered render(const std::string& line) {
  Rendered rendered;
  for (std::size_t at = 0; at < line.size();) {
    std::size_t length = sequence_length(static_cast<unsigned char>(line[at]));
    const bool complete = is_complete(line, at, length);
    if (!complete) length = 1;
    for (std::size_t i = 0; i < length; ++i) rendered.column_of_byte.push_back(rendered.cells.size());
    if (line[at] == '\t') {
      do {
        rendered.cells.emplace_back(" ");
      } while (rendered.cells.size() % kTabWidth != 0);
    } else if (!complete || is_control(line, at, length)) {
      rendered.cells.emplace_back("\xEF\xBF\xBD");
    } else {
      rendered.cells.push_back(line.substr(at, length));
    }
    at += length;
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

std::vector<std::string> read_lines(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return {};
  if (std::filesystem::file_size(path, error) > kLargestFile) return {};
  std::ifstream in(path, std::ios::binary);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace

const std::vector<std::string>& SourceSnippets::lines_of(const std::string& file) {
  const auto known = files_.find(file);
  if (known != files_.end()) return known->second;
  return files_.emplace(file, read_lines(root_ / file)).first->second;
}

std::string SourceSnippets::of(const SourceLocation& location) {
  if (location.line < 1 || location.file.empty()) return {};
  const std::vector<std::string>& lines = lines_of(location.file);
  if (static_cast<std::size_t>(location.line) > lines.size()) return {};
  const Rendered rendered = render(lines[static_cast<std::size_t>(location.line) - 1]);

  const std::size_t caret = column_at(rendered, location.column);
  const bool ends_later = location.end_line > location.line;
  std::size_t end = ends_later ? rendered.cells.size() : column_at(rendered, location.end_column);

  std::size_t first = 0;
  if (rendered.cells.size() > kLongestLine && caret > kLeadWhenCut) first = caret - kLeadWhenCut;
  const std::size_t last = std::min(rendered.cells.size(), first + kLongestLine);
  end = std::min(end, last);

  std::string text;
  for (std::size_t i = first; i < last; ++i) text += rendered.cells[i];
  std::string snippet = fmt::format("{:>5} | {}{}{}\n", location.line, first > 0 ? "..." : "", text,
                                    last < rendered.cells.size() ? "..." : "");
  if (location.column < 1) return snippet;
  const std::size_t shift = first > 0 ? 3 : 0;
  return snippet + fmt::format("      | {}\n", marks(caret - first + shift, end - first + shift));
}

}  // namespace dtype_guard
