#include "analyzer/python/counted_rounds.h"

#include <charconv>
#include <optional>

namespace dtype_guard::python {
namespace {
std::optional<std::int64_t> written_number(const Node& node) {
  const std::string_view text = node.is("integer") ? node.text() : std::string_view();
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  const bool is_all = error == std::errc() && end == text.data() + text.size();
  return !text.empty() && is_all ? std::optional(out) : std::nullopt;
}
}  // namespace

std::vector<std::int64_t> counted_rounds(const Node& iterable, std::size_t copies) {
  std::vector<std::int64_t> out;
  const Node function = iterable.is("call") ? iterable.field("function") : Node();
  if (!function.is("identifier") || function.text() != "range") return out;
  const std::vector<Node> bounds = iterable.field("arguments").children();
  const auto first = bounds.size() == 2 ? written_number(bounds[0]) : std::optional<std::int64_t>(0);
  const auto last = bounds.empty() || bounds.size() > 2 ? std::nullopt : written_number(bounds.back());
  const std::int64_t count = first && last && *first < *last ? *last - *first : 0;
  const bool is_short = count > 0 && count <= static_cast<std::int64_t>(kMaxUnrolled) &&
                        copies * static_cast<std::size_t>(count) <= kMaxCopies;
  for (std::int64_t i = is_short ? *first : 0; is_short && i < *last; ++i) out.push_back(i);
  return out;
}

}  // namespace dtype_guard::python
