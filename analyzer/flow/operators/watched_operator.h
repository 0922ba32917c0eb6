// The contract of an operator of the table that is watched like a call: two of its operands must be equal,
// unless autocast casts them.
#pragma once

#include <string_view>

#include "rules/contracts/contract.h"
#include "rules/operators/operators.h"

namespace dtype_guard::flow {

Api equal_operands(const Operator& op, ApiKind kind, std::string_view first, std::string_view second);

}  // namespace dtype_guard::flow
