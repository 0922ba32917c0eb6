// Calls that a contract speaks of: counted, checked before they run, and recorded where they break it. A call
// under autocast waits for the record inside it, which shows what its kernel gets.
#pragma once

#include <cstdint>

#include "sanitizer/sources/torch/thread_records.h"

namespace dtype_guard::san::torch {

void check_call(OpenRecord& open, const Record& record, std::uintptr_t caller);
// A call that a thunk tells of, its tensors by operand. False where autocast is on and they differ: then what
// becomes of it cannot be told.
bool check_bound_call(ApiId api, const TensorImpl* const* tensors, std::uintptr_t caller);
// An operator of torch/operators.inc whose operands mix floating dtypes: a finding when it raises.
void check_operator(OpenRecord& open, const Record& record);
bool mixes_floats(const Operator& op, const Record& record);
// Attention by products and softmax: an operand that was implied to be wide, where all have that dtype.
void check_by_hand(OpenRecord& open, const Record& record, std::uintptr_t caller);
// A record of another operator of torch/operators.inc inside a waiting one of these.
void settle_operator(OpenRecord& waiting, const Operator& op, const Record& inner);
// A record of the same operator inside a waiting one.
void settle_call(OpenRecord& waiting, const Record& inner, std::uintptr_t caller);
// The record of a call of tensors that stand for others ends, and none inside it was looked at.
void end_unread(const OpenRecord& open);
// The record of a waiting call ends.
void end_call(OpenRecord& open, std::uintptr_t caller);

}  // namespace dtype_guard::san::torch
