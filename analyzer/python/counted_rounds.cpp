#include "analyzer/python/counted_rounds.h"

#include <optional>

#include "analyzer/python/literals.h"

namespace dtype_guard::python {

std::vector<std::int64_t> counted_rounds(const Node& iterable, std::size_t copies) {
  std::vector<std::int64_t> out;
  const Node function = iterable.is("call") ? iterable.field("function") : Node();
  if (!function.is("identifier") || function.text() != "range") return out;
  const std::vector<Node> bounds = iterable.field("arguments").children();
  const auto first = bounds.size() == 2 ? written_integer(bounds[0]) : std::optional<std::int64_t>(0);
  const auto last = bounds.empty() || bounds.size() > 2 ? std::nullopt : written_integer(bounds.back());
  const std::int64_t count = first && last && *first < *last ? *last - *first : 0;
  const bool is_short = count > 0 && count <= static_cast<std::int64_t>(kMaxUnrolled) &&
                        copies * static_cast<std::size_t>(count) <= kMaxCopies;
  for (std::int64_t i = is_short ? *first : 0; is_short && i < *last; ++i) out.push_back(i);
  return out;
}

}  // namespace dtype_guard::python
