// What the table knows of one operator, in words, and what changed between two releases of PyTorch: found by
// applying the entry as it holds for each, so that it cannot say other things than the analysis does.
#pragma once

#include <string>
#include <string_view>

#include "rules/operators/operators.h"

namespace dtype_guard {

// Several lines. `from` and `to` are releases of kTorchReleases, `to` not before `from`.
std::string explain_operator(const Operator& op, std::string_view from, std::string_view to);

}  // namespace dtype_guard
