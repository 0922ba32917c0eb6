// Programs with a lambda that escapes: to code that is not there, into an object, or unused to where a front
// end does not follow it.
#pragma once

#include <cstdint>

#include "analyzer/flow/ir/ir.h"

namespace dtype_guard::oracle {

inline constexpr const char* kCaptured = "captured";
flow::Module with_escaping_lambda(std::uint64_t seed);

}  // namespace dtype_guard::oracle
