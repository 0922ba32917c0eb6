// Functions that a program may come to behind some others: what leads to one of these calls them too, or
// makes the objects whose methods they are. What leads there itself begins before.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/flow/program/callers.h"
#include "analyzer/flow/program/function_index.h"

namespace dtype_guard::flow {

// By function.
std::vector<bool> run_behind(const FunctionIndex& index, const Callers& callers,
                             const std::vector<std::uint32_t>& functions);

}  // namespace dtype_guard::flow
