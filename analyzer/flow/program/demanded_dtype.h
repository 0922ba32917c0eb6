// A body that checks the dtype of its parameter before anything else: a caller that hands it another never
// gets past that, whatever a contract says.
#pragma once

#include <cstddef>

#include "analyzer/flow/program/function_index.h"
#include "rules/dtype/dtype_set.h"

namespace dtype_guard::flow {

// Whether what `call` runs demands of that parameter (not counting the object) a dtype among `accepted`.
bool demands(const FunctionIndex& index, const Instruction& call, std::size_t parameter, DtypeSet accepted);

}  // namespace dtype_guard::flow
