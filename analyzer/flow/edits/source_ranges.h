// Which expression stands inside which: an edit is placed by ranges of source text.
#pragma once

#include <utility>

#include "analyzer/flow/ir/ir.h"

namespace dtype_guard::flow {

inline bool is_within(const SourceRange& inner, const SourceRange& outer) {
  const auto begin = [](const SourceRange& each) { return std::pair(each.line, each.column); };
  const auto end = [](const SourceRange& each) { return std::pair(each.end_line, each.end_column); };
  return inner.file == outer.file && begin(inner) >= begin(outer) && end(inner) <= end(outer);
}

}  // namespace dtype_guard::flow
