// What to show first where not everything can be shown, or where a person starts reading: worse before
// milder, certain before possible, a lost fused kernel before mere cost, more bytes before fewer.
#pragma once

#include <cstddef>
#include <vector>

#include "rules/report/report.h"

namespace dtype_guard {

struct Harm {
  bool kernel_lost = false;     // the call refuses an operand, or takes a slower path
  std::size_t extra_bytes = 0;  // per element, over all operands that are wider than accepted
};
Harm harm(const Finding& finding);

// Findings in that order, equals as they stand in the report.
std::vector<const Finding*> by_harm(const Report& report);

}  // namespace dtype_guard
