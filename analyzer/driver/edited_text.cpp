#include "analyzer/driver/edited_text.h"

#include <algorithm>

#include "analyzer/flow/edits/source_text.h"

namespace dtype_guard::driver {

std::vector<ByteEdit> byte_edits(std::string_view text, const Edit& edit) {
  const auto begin = flow::offset_of(text, edit.range.line, edit.range.column);
  const auto end = flow::offset_of(text, edit.range.end_line, edit.range.end_column);
  if (!begin || !end || *end < *begin) return {};
  const std::string_view before = text.substr(*begin, *end - *begin);
  const std::size_t kept = before.empty() ? std::string::npos : edit.replacement.find(before);
  if (kept == std::string::npos) return {{*begin, *end, edit.replacement}};
  std::vector<ByteEdit> out;
  const std::string behind = edit.replacement.substr(kept + before.size());
  if (kept > 0) out.push_back({*begin, *begin, edit.replacement.substr(0, kept)});
  if (!behind.empty()) out.push_back({*end, *end, behind});
  return out;
}

namespace {

bool apart(const ByteEdit& a, const ByteEdit& b) {
  // Which of two insertions at one place comes first is a matter of meaning.
  if (a.begin == b.begin && (a.begin == a.end || b.begin == b.end)) return false;
  return a.end <= b.begin || b.end <= a.begin;
}

}  // namespace

bool compatible(const std::vector<ByteEdit>& a, const std::vector<ByteEdit>& b) {
  // Two expressions that begin together have "(" at one place each, and need both.
  std::ptrdiff_t open = 0;
  for (const ByteEdit& one : a) {
    const bool shared = std::find(b.begin(), b.end(), one) != b.end();
    if (!shared && !std::all_of(b.begin(), b.end(), [&](const ByteEdit& each) { return apart(one, each); }))
      return false;
    for (const char c : shared ? one.replacement : "") open += c == '(' ? 1 : c == ')' ? -1 : 0;
  }
  return open == 0;
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
