// The text of a file with edits in it. All bytes that no edit names stay as they are.
#pragma once

#include <cstddef>
#include <optional>
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

// Nothing when the text does not have the place.
std::optional<ByteEdit> byte_edit(std::string_view text, const Edit& edit);
// Whether both can be made: they are the same, or touch different bytes.
bool compatible(const ByteEdit& a, const ByteEdit& b);
// With all of them, equal ones once.
std::string edited_text(std::string_view text, std::vector<ByteEdit> edits);

}  // namespace dtype_guard::driver
