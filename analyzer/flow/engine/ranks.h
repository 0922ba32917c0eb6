// Ranks as a program proves them: by what it asks, checks and calls.
#pragma once

#include "analyzer/flow/engine/activation.h"

namespace dtype_guard::flow {

// q.dim() == 4, q.sizes().size() >= 2. False where the rank is known to be another.
bool refine_count(State& state, const Instruction& comparison, bool wanted);

}  // namespace dtype_guard::flow
