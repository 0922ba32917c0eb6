// Attention that shows only later: queries times keys without a rotary embedding before them are like any
// product of matrices, until a softmax takes the result and another product takes the softmax. Nothing that
// travels with a value can tell, so the function is read backwards once, along each way through it.
#pragma once

#include <vector>

#include "analyzer/flow/ir.h"

namespace dtype_guard::flow {

struct FunctionInfo;

// The results of the products that a softmax takes, whose result another product takes, all within the
// function; ascending. `info` need hold the function's definitions only.
std::vector<ValueId> products_before_scores(const Function& function, const FunctionInfo& info);

}  // namespace dtype_guard::flow
