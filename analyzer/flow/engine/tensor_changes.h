// What an activation did to tensors that its callers may know by values of their own. Those of the running
// activation and all heap cells are changed at once; where it returns, its caller's values follow.
#pragma once

#include <vector>

#include "analyzer/flow/values/values.h"

namespace dtype_guard::flow {

struct TensorChanges {
  // A tensor that a module owns from then on, so that its conversions reach it by any name.
  struct Registered {
    Value before, after;
    bool always = false;  // whenever the running activation passes `block`
    BlockId block = 0;
  };
  std::vector<Value> ranks;  // tensors that were given other dimensions, as they were before
  std::vector<Registered> registered;
};

}  // namespace dtype_guard::flow
