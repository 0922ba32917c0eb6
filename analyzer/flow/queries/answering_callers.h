// Whether the callers of a function that gives back something wide answer for it: they may cast it, or attend
// with it. Callers that only hand it on, to code that is not in sight, say nothing, as if there were none.
#pragma once

#include <cstdint>

#include "analyzer/flow/program/program.h"

namespace dtype_guard::flow {

bool callers_answer(std::uint32_t function, const Program& program);

}  // namespace dtype_guard::flow
