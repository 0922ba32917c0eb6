// The dtype contract of a call, checked. A mismatch names the argument, the dtype found and the dtypes
// accepted.
#pragma once

#include "kernels/launch/call.h"
#include "kernels/launch/contract_table.h"
#include "kernels/launch/problem.h"

namespace flash_ref {

// Checks the first `count` operands: required ones are not NULL, and all have a dtype that the contract
// accepts.
int check_dtypes(const Call& call, const ApiRule& api, const DLTensor* const* operands, int count);

// For a tensor that is a member of the options, by the rule that the contract lists under that name; `member`
// is "options.NAME".
int check_option_dtype(const Call& call, const ApiRule& api, const char* member, DLDataType dtype);

int check_mask_dtype(const Call& call, const char* member, DLDataType dtype, Element q, MaskKind& kind);

// The kernels' name for a dtype that has passed check_dtypes.
Element element_of(DLDataType dtype);

}  // namespace flash_ref
