// Operators that a project registers with PyTorch's dispatcher, as the IR names them. What one registration
// gives is a function, "operator::NAME@KEY" for the dispatch key KEY, which calls the kernel; `call
// operator::NAME` runs that of the key that the dispatcher takes.
#pragma once

#include <string_view>

namespace dtype_guard::flow {

inline constexpr std::string_view kRegistered = "operator::";
// A kernel for whatever key has none of its own.
inline constexpr std::string_view kForAnyKey = "CompositeImplicitAutograd";
// A key that the source does not say.
inline constexpr std::string_view kUnknownKey = "?";

inline bool is_registered_operator(std::string_view name) { return name.starts_with(kRegistered); }

}  // namespace dtype_guard::flow
