// Whether the callers of a function that gives back something wide answer for it: they may cast it, or attend
// with it. Callers that only hand it on, to code that is not in sight, say nothing, as if there were none.
#pragma once

#include <cstdint>

#include "analyzer/flow/program/called_modules.h"

namespace dtype_guard::flow {

// `called_modules` may be null.
bool callers_answer(std::uint32_t function, const FunctionIndex& index, const CalledModules* called_modules);

}  // namespace dtype_guard::flow
