// Functions of other libraries than PyTorch that make tensors, ggml's: known by their own names alone. They
// have no variants, autocast does nothing to them, and their arguments go by position, "-" for those without
// a bearing on dtypes. The code says the dtype of each tensor of such a library: no precision setting and no
// default has a part in it.
#pragma once

#include <string_view>
#include <vector>

#include "rules/operators/operators.h"

namespace dtype_guard {

// find_operator knows them too; all_operators are PyTorch's alone.
const std::vector<Operator>& library_operators();
// Of an entry of the table: the library whose it is; empty: PyTorch's.
std::string_view library_of(const Operator& op);
inline bool is_library_operator(const Operator& op) { return !library_of(op).empty(); }
// Whether the library has a table of its own.
bool has_own_operators(std::string_view library);
// Whether every kernel of an operator that keeps its input's dtype takes `fixed` alone: where nothing is
// known of the input it is that.
inline bool takes_one_dtype(const Operator& op) {
  return op.result == ResultRule::kLikeFirst && op.fixed != Dtype::kUndefined;
}

}  // namespace dtype_guard
