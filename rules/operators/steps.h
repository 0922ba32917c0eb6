// Composites whose dtype no single rule tells are written as the calls that they are made of. The walk
// through those calls, each of which is an entry of the table itself.
#pragma once

#include <span>

#include "rules/operators/operators.h"

namespace dtype_guard {

// The last step's dtype, or why PyTorch throws on the way.
PromotionResult evaluate_steps(std::span<const OperatorStep> steps, std::span<const OperatorInput> inputs,
                               const OperatorContext& context);

}  // namespace dtype_guard
