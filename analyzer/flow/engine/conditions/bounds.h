// Between which numbers a number lies whose value is not known.
#pragma once

#include <optional>

#include "analyzer/flow/engine/activation.h"
#include "analyzer/flow/engine/question.h"

namespace dtype_guard::flow {

Bounds bounds(const Activation& activation, const State& state, ValueId id, int depth = 0);
// Whether a comparison holds whatever the numbers are within their bounds.
std::optional<bool> bounded_comparison(const Activation& activation, const State& state,
                                       const Instruction& comparison);

}  // namespace dtype_guard::flow
