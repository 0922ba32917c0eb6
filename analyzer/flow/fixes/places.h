// What the parts of the search for candidates share: names, and which expression stands inside which.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/flow/ir/ir.h"
#include "analyzer/flow/ir/mnemonics.h"

namespace dtype_guard::flow {

inline bool is_word(std::string_view text) {
  return !text.empty() && word_length(text) == text.size() && text.find(':') == std::string_view::npos;
}

inline bool inside(const SourceRange& inner, const SourceRange& outer) {
  const auto begin = [](const SourceRange& each) { return std::pair(each.line, each.column); };
  const auto end = [](const SourceRange& each) { return std::pair(each.end_line, each.end_column); };
  return inner.file == outer.file && begin(inner) >= begin(outer) && end(inner) <= end(outer) &&
         inner != outer;
}

inline void add_once(std::vector<std::string>& into, const std::string& name) {
  if (std::find(into.begin(), into.end(), name) == into.end()) into.push_back(name);
}

}  // namespace dtype_guard::flow
