// Operators that write one tensor into another and refuse a source of another dtype: index_copy, scatter,
// index_put. A slice store converts; these throw. Where the tensor goes on to attention it is a cache of keys
// or values, so such an operator is watched like a call that has a contract, which the operator table gives.
#pragma once

#include "rules/contracts/contract.h"
#include "rules/operators/operators.h"

namespace dtype_guard::flow {

// The contract of a store, in place or not: the source is like the tensor that it is written into. Null: the
// operator is none.
const Api* store_contract(const Operator& op);

}  // namespace dtype_guard::flow
