// Calls that their contract allows, once for each place and combination of dtypes: what a static report
// beside the run is confirmed or contradicted by, and what the ranks of a job are compared by.
#pragma once

#include <cstdint>

#include "sanitizer/contracts/contract_table.h"
#include "sanitizer/process/process.h"
#include "sanitizer/sources/torch/call_operands.h"

namespace dtype_guard::san::torch {

void note_accepted(Process& process, ApiId api, const CallOperands& operands, std::uintptr_t caller);

// What the library of this process took although a contract in doubt forbids it (that of an older version, or
// of an operator whose parts autocast recasts): a later call of these dtypes that raises does so for another
// reason.
void note_taken(Process& process, ApiId api, const CallOperands& operands);
bool were_taken(ApiId api, const CallOperands& operands);

}  // namespace dtype_guard::san::torch
