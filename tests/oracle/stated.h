// Programs with checks that say what dtype an input has, which may not be the one that a setting hands in.
#pragma once

#include <cstdint>

#include "analyzer/flow/ir/ir.h"

namespace dtype_guard::oracle {

flow::Module with_stated_inputs(std::uint64_t seed);

}  // namespace dtype_guard::oracle
