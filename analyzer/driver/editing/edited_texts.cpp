#include "analyzer/driver/editing/edited_texts.h"

#include <algorithm>

#include "analyzer/lsp/documents.h"
#include "rules/files/input_file.h"

namespace dtype_guard::driver {

TextsNow::Known& TextsNow::known(const std::string& path) {
  const auto [found, fresh] = known_.try_emplace(path);
  Known& out = found->second;
  if (!fresh) return out;
  const auto edited = edited_.find(path);
  if (edited != edited_.end() && !from_disk_.contains(path)) {
    out.text = &edited->second.text;
  } else if (InputFile input = read_input(path); input.found.empty()) {
    out.own = std::move(input.text);
    out.text = &out.own;
  }
  out.lines = std::make_unique<lsp::Lines>(out.text ? std::string_view(*out.text) : std::string_view());
  return out;
}

const std::string* TextsNow::text(const std::string& path) { return known(path).text; }

std::string TextsNow::uri(const std::string& path) const {
  const auto edited = edited_.find(path);
  return edited == edited_.end() ? lsp::uri_of(path) : edited->second.uri;
}

lsp::Range TextsNow::range(const std::string& path, const SourceLocation& at) {
  const lsp::Lines& lines = *known(path).lines;
  const auto position = [&](int line, int column) -> lsp::Position {
    if (line < 1) return {0, 0};
    const std::size_t number = std::min(static_cast<std::size_t>(line) - 1, lines.count() - 1);
    const auto bytes = static_cast<std::size_t>(std::max(column, 1)) - 1;
    return {number, lsp::characters_before(lines.line(number), bytes, encoding_)};
  };
  const lsp::Position start = position(at.line, at.column);
  const bool ends = at.end_line > at.line || (at.end_line == at.line && at.end_column > at.column);
  if (ends) return {start, std::max(start, position(at.end_line, at.end_column))};
  const std::string_view line = lines.line(start.line);
  const std::size_t from = lsp::bytes_before(line, start.character, encoding_);
  const bool whole = at.column < 1;
  const std::size_t to = whole || from >= line.size() ? line.size() : from + 1;
  return {start, std::max(start, lsp::Position{start.line, lsp::characters_before(line, to, encoding_)})};
}

lsp::Position TextsNow::position(const std::string& path, std::size_t offset) {
  return known(path).lines->position(offset, encoding_);
}
std::size_t TextsNow::offset(const std::string& path, const lsp::Position& position) {
  return known(path).lines->offset(position, encoding_);
}

}  // namespace dtype_guard::driver
