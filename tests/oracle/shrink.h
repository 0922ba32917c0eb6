// Makes a program smaller as long as it still does what is asked of it: without branches, without
// instructions, with values in place of what was computed from them.
#pragma once

#include <functional>

#include "analyzer/flow/ir/ir.h"

namespace dtype_guard::oracle {

using StillFails = std::function<bool(const flow::Module&)>;
flow::Module shrink(flow::Module module, const StillFails& still_fails);

}  // namespace dtype_guard::oracle
