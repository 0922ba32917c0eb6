// A function or module that an object holds in a field, where a call names that field.
#pragma once

#include "analyzer/flow/engine/identities.h"
#include "analyzer/flow/state/state.h"

namespace dtype_guard::flow {

Value held_by_name(const Value& receiver, const Instruction& call, const State& state, Identities& ids);

}  // namespace dtype_guard::flow
