#include "analyzer/driver/edited_text.h"

#include <algorithm>

#include "analyzer/flow/fixes/source_text.h"

namespace dtype_guard::driver {

std::optional<ByteEdit> byte_edit(std::string_view text, const Edit& edit) {
  const auto begin = flow::offset_of(text, edit.range.line, edit.range.column);
  const auto end = flow::offset_of(text, edit.range.end_line, edit.range.end_column);
  if (!begin || !end || *end < *begin) return std::nullopt;
  return ByteEdit{*begin, *end, edit.replacement};
}

bool compatible(const ByteEdit& a, const ByteEdit& b) {
  if (a == b) return true;
  // Which of two insertions at one place comes first is a matter of meaning.
  if (a.begin == b.begin && (a.begin == a.end || b.begin == b.end)) return false;
  return a.end <= b.begin || b.end <= a.begin;
}

std::string edited_text(std::string_view text, std::vector<ByteEdit> edits) {
  std::sort(edits.begin(), edits.end());
  edits.erase(std::unique(edits.begin(), edits.end()), edits.end());
  std::string out;
  std::size_t at = 0;
  for (const ByteEdit& each : edits) {
    out += text.substr(at, each.begin - at);
    out += each.replacement;
    at = each.end;
  }
  out += text.substr(at);
  return out;
}

}  // namespace dtype_guard::driver
