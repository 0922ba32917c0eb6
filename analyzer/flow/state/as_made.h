// What a registered tensor is on the paths that do not convert it, where others do. The code says what it is
// on those others; on these a precision setting goes on to convert it.
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

}  // namespace dtype_guard::flow
