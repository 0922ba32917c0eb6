// The dtype contract of a call, checked. A mismatch names the argument, the dtype found and the dtypes
// accepted.
#pragma once

#include "kernels/call/call.h"
#include "kernels/call/problem.h"
#include "kernels/launch/contract_table.h"

namespace flash_ref {

// Checks the first `count` operands: required ones are not NULL, and all have a dtype that the contract
// accepts.
int check_dtypes(const Call& call, const ApiRule& api, const DLTensor* const* operands, int count);

// For a tensor that is a member of the options, by the rule that the contract lists under that name; `member`
// is "options.NAME", `leading` the dtype of the first operand, for a rule that takes that too.
int check_option_dtype(const Call& call, const ApiRule& api, const char* member, DLDataType dtype,
                       DLDataType leading = {});

// The kernels' name for a dtype that has passed check_dtypes.
Element element_of(DLDataType dtype);
DLDataType dtype_of(Element element);

}  // namespace flash_ref
