// A promotion beside a value of unknown dtype: a lower bound ("at least float32"), which some calls refuse
// whatever the value turns out to be.
#pragma once

#include "analyzer/flow/values/origins.h"

namespace dtype_guard::flow {

// Beside a float32 tensor it is no longer half, whatever it was, and the call takes nothing else. What it was
// may not have been a tensor: that is only possible.
inline bool widens_unknown(const Origin* origin) {
  return origin && origin->kind == Origin::Kind::kPromotion && origin->before == Dtype::kUndefined;
}

}  // namespace dtype_guard::flow
