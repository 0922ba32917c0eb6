#include "analyzer/lsp/positions.h"

#include <algorithm>

#include "rules/text/utf8.h"

namespace dtype_guard::lsp {

std::size_t bytes_before(std::string_view line, std::size_t character, Encoding encoding) {
  std::size_t units = 0;
  for (std::size_t at = 0; at < line.size();) {
    const Utf8Character one = utf8_character(line, at);
    const std::size_t takes = encoding == Encoding::kUtf8 ? one.length : one.code > 0xFFFF ? 2 : 1;
    if (units + takes > character) return at;
    units += takes;
    at += one.length;
  }
  return line.size();
}

std::size_t characters_before(std::string_view line, std::size_t bytes, Encoding encoding) {
  bytes = std::min(bytes, line.size());
  return encoding == Encoding::kUtf8 ? bytes : utf16_length(line.substr(0, bytes));
}

Lines::Lines(std::string_view text) : text_(text), starts_{0} {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool pair = text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n';
    if (pair) continue;  // its LF ends the line
    if (text[at] == '\n' || text[at] == '\r') starts_.push_back(at + 1);
  }
}

std::size_t Lines::start(std::size_t number) const {
  return number < starts_.size() ? starts_[number] : text_.size();
}

std::string_view Lines::line(std::size_t number) const {
  std::string_view out = text_.substr(start(number), start(number + 1) - start(number));
  while (!out.empty() && (out.back() == '\n' || out.back() == '\r')) out.remove_suffix(1);
  return out;
}

std::size_t Lines::offset(const Position& position, Encoding encoding) const {
  if (position.line >= starts_.size()) return text_.size();
  return starts_[position.line] + bytes_before(line(position.line), position.character, encoding);
}

Position Lines::position(std::size_t offset, Encoding encoding) const {
  offset = std::min(offset, text_.size());
  const auto behind = std::upper_bound(starts_.begin(), starts_.end(), offset);
  const auto number = static_cast<std::size_t>(behind - starts_.begin()) - 1;
  return {number, characters_before(line(number), offset - starts_[number], encoding)};
}

}  // namespace dtype_guard::lsp
