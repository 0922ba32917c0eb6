// Functions of other libraries than PyTorch that make tensors, ggml's: known by their own names alone. They
// have no variants, autocast does nothing to them, and their arguments go by position, "-" for those without
// a bearing on dtypes.
#pragma once

#include <vector>

#include "rules/operators/operators.h"

namespace dtype_guard {

// find_operator knows them too; all_operators are PyTorch's alone.
const std::vector<Operator>& library_operators();
// Of an entry of the table: whether it is one of those.
bool is_library_operator(const Operator& op);

}  // namespace dtype_guard
