// Operators that a project registers with PyTorch's dispatcher. What one registration gives is a function,
// "operator::NAME@KEY" for the dispatch key KEY, which calls the kernel; `call operator::NAME` runs that of
// the key that the dispatcher takes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analyzer/flow/program/function_info.h"
#include "analyzer/flow/state/state.h"

namespace dtype_guard::flow {

inline constexpr std::string_view kRegistered = "operator::";
// A kernel for whatever key has none of its own.
inline constexpr std::string_view kForAnyKey = "CompositeImplicitAutograd";
// A key that the source does not say.
inline constexpr std::string_view kUnknownKey = "?";

inline bool is_registered_operator(std::string_view name) { return name.starts_with(kRegistered); }

// What a call of that name runs on tensors of `device`; nothing where that is not known.
std::optional<std::uint32_t> registered_kernel(const FunctionIndex& index, std::string_view name,
                                               std::string device, const AutocastState& autocast);

}  // namespace dtype_guard::flow
