// Mode `calls`: attention operators that are called through jump slots, without a callback. The slots of
// at::_ops::NAME::call, for the operators of PyTorch's own that a contract speaks of, lead to thunks
// (operator_thunks.cpp), which look at the dtypes and jump on; no other operator comes by.
//
// Which arguments can be looked at, the mangled name says: tensors, with integers between them, and an
// std::optional<at::Tensor> behind them. When the call ends is not seen; so a call that is part of another is
// told from one that the program makes by who calls: libtorch itself makes those of backward alone that
// count.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/platform/text_buffer.h"
#include "sanitizer/process/process.h"

namespace dtype_guard::san::torch {

// False with the reason where no slot leads to a thunk.
bool lead_operators_here(TextSink& reason);

struct BoundOperators {
  std::uint32_t operators = 0, slots = 0;
  std::uint64_t entered = 0;  // by calls, whether they were looked at or not
  bool has_unread = false;    // of some operator an optional operand lies where it cannot be read
};
BoundOperators bound_operators();

// Of calls under autocast whose operands differ: what becomes of them is not seen.
void write_untold(Process& process, Scratch& scratch);
// In a forked child.
void forget_bound_calls();

}  // namespace dtype_guard::san::torch
