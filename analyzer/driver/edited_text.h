// The text of a file with edits in it. All bytes that no edit names stay as they are.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "rules/finding/finding.h"

namespace dtype_guard::driver {

struct ByteEdit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string replacement;
  friend auto operator<=>(const ByteEdit&, const ByteEdit&) = default;
};

// Empty when the text does not have the place. What is put around an expression are two insertions, so that
// others can be made within it.
std::vector<ByteEdit> byte_edits(std::string_view text, const Edit& edit);
// Whether two fixes of one file can be made: what both edit, they edit alike.
bool compatible(const std::vector<ByteEdit>& a, const std::vector<ByteEdit>& b);
// With all of them, equal ones once.
std::string edited_text(std::string_view text, std::vector<ByteEdit> edits);

}  // namespace dtype_guard::driver
