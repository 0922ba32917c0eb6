// Operators that a project registers with PyTorch's dispatcher, as the IR names them. What one registration
// gives is a function, "operator::NAME@KEY" for the dispatch key KEY, which calls the kernel; `call
// operator::NAME` runs that of the key that the dispatcher takes.
#pragma once

#include <string_view>

namespace dtype_guard::flow {

inline constexpr std::string_view kRegistered = "operator::";
// Keys; the first two are those of a device with its name behind them, the second of any device without.
inline constexpr std::string_view kAutocastKey = "Autocast", kAutogradKey = "Autograd";
// A kernel for whatever backend has none of its own, and for whatever key.
inline constexpr std::string_view kForAnyBackend = "CompositeExplicitAutograd";
inline constexpr std::string_view kForAnyKey = "CompositeImplicitAutograd";
// A key that the source does not say.
inline constexpr std::string_view kUnknownKey = "?";

inline bool is_registered_operator(std::string_view name) { return name.starts_with(kRegistered); }

}  // namespace dtype_guard::flow
