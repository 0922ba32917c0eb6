// Functions that a program may come to with another default dtype than float32: some function sets one and
// leaves it so, as a script does before it makes its model. Looked at alone, what runs later in that program
// makes its tensors in a dtype that is not known. A context that sets the old one back is seen where it is.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/flow/program/callers.h"
#include "analyzer/flow/program/function_index.h"

namespace dtype_guard::flow {

class DefaultDtypes {
 public:
  DefaultDtypes(const FunctionIndex& index, const Callers& callers) : index_(index), callers_(callers) {}
  // Whether what leads to a function which sets it also calls this one, or makes its object; what leads there
  // itself runs before.
  bool may_differ_for(std::uint32_t function) const;

 private:
  std::vector<bool> find() const;

  const FunctionIndex& index_;
  const Callers& callers_;
  mutable std::optional<std::vector<bool>> differ_;  // by function; empty: nothing sets it
};

}  // namespace dtype_guard::flow
