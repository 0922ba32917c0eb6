// What the parts of the search for candidates share: names, and which expression stands inside which.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/flow/edits/source_ranges.h"
#include "analyzer/flow/ir/ir.h"
#include "analyzer/flow/ir/mnemonics.h"

namespace dtype_guard::flow {

inline bool is_word(std::string_view text) {
  return !text.empty() && word_length(text) == text.size() && text.find(':') == std::string_view::npos;
}

inline bool inside(const SourceRange& inner, const SourceRange& outer) {
  return is_within(inner, outer) && inner != outer;
}

// Of the dtypes that a finding names.
template <typename Holds>
bool is_dtype_that(const std::string& name, Holds holds) {
  const auto known = parse_dtype(name);
  return known && holds(*known);
}

inline void add_once(std::vector<std::string>& into, const std::string& name) {
  if (std::find(into.begin(), into.end(), name) == into.end()) into.push_back(name);
}

}  // namespace dtype_guard::flow
