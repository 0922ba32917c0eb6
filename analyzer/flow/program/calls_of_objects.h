// Calls through function objects, of which it is not known what they run.
#pragma once

#include <cstddef>
#include <optional>
#include <set>

#include "analyzer/flow/program/function_index.h"

namespace dtype_guard::flow {

class CallsOfObjects {
 public:
  explicit CallsOfObjects(const FunctionIndex& index) : index_(index) {}
  // Whether a function object with that many parameters is somewhere handed what may have been cast.
  bool is_called_with_casts(std::size_t parameters) const;

 private:
  const FunctionIndex& index_;
  mutable std::optional<std::set<std::size_t>> called_with_casts_;
};

}  // namespace dtype_guard::flow
