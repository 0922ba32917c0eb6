// Calls that their contract allows, once for each place and combination of dtypes: what a static report
// beside the run is confirmed or contradicted by, and what the ranks of a job are compared by.
#pragma once

#include <cstdint>

#include "sanitizer/contracts/contract_table.h"
#include "sanitizer/process/process.h"
#include "sanitizer/sources/torch/call_operands.h"

namespace dtype_guard::san::torch {

void note_accepted(Process& process, ApiId api, const CallOperands& operands, std::uintptr_t caller);

}  // namespace dtype_guard::san::torch
