// A parameter that is a function or class by default: its type is that one's key (ir.h).
#pragma once

#include "analyzer/flow/engine/identities.h"
#include "analyzer/flow/program/function_index.h"
#include "analyzer/flow/state/state.h"

namespace dtype_guard::flow {

bool is_function_by_default(const Parameter& parameter);
// Whether the body makes a function, a class or an object of it where it is None, as it is by default:
// `norm = norm or nn.LayerNorm`.
bool stands_for_default(const Function& code, const Parameter& parameter);
// The function as a value; bottom where it is none, or not in sight.
Value default_function(const Parameter& parameter, const FunctionIndex& index, ContextId context,
                       Identities& ids, State& state);

}  // namespace dtype_guard::flow
