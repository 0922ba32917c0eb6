// How often a loop runs whose rounds are written out as numbers: `range(3)`, `range(1, 4)`.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/python/syntax.h"

namespace dtype_guard::python {

// Rounds that are told apart, and what stands in such loops in one another.
inline constexpr std::size_t kMaxUnrolled = 8, kMaxCopies = 64;

// What it counts in each round; empty where that is not written out, or are too many to be told apart in what
// is there in so many copies already.
std::vector<std::int64_t> counted_rounds(const Node& iterable, std::size_t copies);

}  // namespace dtype_guard::python
