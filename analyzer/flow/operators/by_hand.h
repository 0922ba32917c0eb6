// Places that have no contract of their own and demand one dtype all the same: a function that rotates by
// hand, which gives back what it was handed, and a check that two tensors have one dtype.
#pragma once

#include "analyzer/flow/ir/ir.h"
#include "rules/contracts/contract.h"

namespace dtype_guard::flow {

// What a rotary embedding gives back is like x. Autocast casts it where it is used next.
const Api& rotation_by_hand();
// The two sides are alike, whatever autocast does.
const Api& dtype_check();

}  // namespace dtype_guard::flow
