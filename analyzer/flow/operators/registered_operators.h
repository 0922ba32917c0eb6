// Which kernel runs of an operator that the project registers with PyTorch's dispatcher
// (ir/registered_names.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analyzer/flow/program/function_index.h"
#include "analyzer/flow/state/state.h"

namespace dtype_guard::flow {

// What a call of that name runs on tensors of `device`; nothing where that is not known.
std::optional<std::uint32_t> registered_kernel(const FunctionIndex& index, std::string_view name,
                                               std::string device, const AutocastState& autocast);

}  // namespace dtype_guard::flow
