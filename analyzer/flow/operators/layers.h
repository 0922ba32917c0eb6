// Operators that multiply an input by a weight and refuse it in another dtype: linear, convolutions. Between
// attention calls they are where a promotion shows first, so such an operator is watched like a call that has
// a contract, which the operator table gives.
#pragma once

#include "rules/contracts/contract.h"
#include "rules/operators/operators.h"

namespace dtype_guard::flow {

// The contract of a layer: the weight is like the input. Null: the operator is none.
const Api* layer_contract(const Operator& op);

}  // namespace dtype_guard::flow
