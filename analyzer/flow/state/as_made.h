// What a registered tensor is on the paths that do not convert it, where others do. The code says what it is
// on those others; on these a precision setting goes on to convert it. And whether the code made it half.
#pragma once

#include "analyzer/flow/state/state.h"

namespace dtype_guard::flow {

// That is what it is where it is not converted.
void set_as_made(HeapObject& tensor, Value held);
// No path is left that does not convert it.
void forget_as_made(HeapObject& tensor);
// Where such paths meet with those on which it is converted.
void join_as_made(HeapObject& into, const std::vector<HeapPointer>& ways, SymbolSets& symbols);

// Whether a setting may convert any of what it holds, and whether it may convert that.
bool may_be_unconverted(const HeapObject& tensor);
bool is_unconverted(const HeapObject& tensor, const Alternative& held);

// Whether the code converted it to half. What code that is not in sight did to it since is not known.
bool is_made_half(const HeapObject& tensor);
// Where these ways meet: whether on all of them it is, and on one such code had it.
bool is_left_half(const std::vector<HeapPointer>& ways);

}  // namespace dtype_guard::flow
