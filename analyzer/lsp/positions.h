// Positions as editors count them, from 0 and in units of UTF-16 or UTF-8, and offsets in bytes. Lines end at
// LF, CR LF or CR. Text that is no valid UTF-8 counts one unit for each byte that cannot be decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace dtype_guard::lsp {

enum class Encoding : std::uint8_t { kUtf16, kUtf8 };

struct Position {
  std::size_t line = 0;
  std::size_t character = 0;
  friend auto operator<=>(const Position&, const Position&) = default;
};
struct Range {
  Position start, end;
  friend bool operator==(const Range&, const Range&) = default;
};

// Where lines of a text begin, found once.
class Lines {
 public:
  explicit Lines(std::string_view text);
  std::size_t count() const { return starts_.size(); }
  // Without its end; empty behind the last.
  std::string_view line(std::size_t number) const;
  std::size_t start(std::size_t number) const;
  // A position behind the end of its line or of the text is that end, one within a character its start.
  std::size_t offset(const Position& position, Encoding encoding) const;
  Position position(std::size_t offset, Encoding encoding) const;

 private:
  std::string_view text_;
  std::vector<std::size_t> starts_;
};

// Of a line: bytes before a character, and characters before a byte.
std::size_t bytes_before(std::string_view line, std::size_t character, Encoding encoding);
std::size_t characters_before(std::string_view line, std::size_t bytes, Encoding encoding);

}  // namespace dtype_guard::lsp
