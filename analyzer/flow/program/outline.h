// A program's functions by hashes: each as a whole, and all together by what the passes over the whole
// program read of them (program.h) - which there are, what they call and make, which fields they read and
// set, which dtypes they ask for. Between two programs of one outline every function has the same number.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/flow/program/program.h"

namespace dtype_guard::flow {

struct Outline {
  std::uint64_t high = 0, low = 0;
  friend bool operator==(const Outline&, const Outline&) = default;
};
Outline outline_of(const Program& program);

// By function; places in the text included.
std::vector<std::uint64_t> contents_of(const Module& module);

}  // namespace dtype_guard::flow
