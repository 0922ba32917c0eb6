// A dtype that an argument of an operator states.
#pragma once

#include "analyzer/flow/values/values.h"

namespace dtype_guard::flow {

struct StatedDtype {
  Dtype dtype = Dtype::kUndefined;
  bool assumed = false;
  bool uncertain = false;
  SymbolSetId symbols = 0;  // what decides it
};

}  // namespace dtype_guard::flow
