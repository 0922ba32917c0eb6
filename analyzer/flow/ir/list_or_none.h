// The type of a parameter that is a list of tensors or None, whatever its default is.
#pragma once

#include <string_view>

namespace dtype_guard::flow {

inline constexpr std::string_view kListOrNone = "or None";

}  // namespace dtype_guard::flow
