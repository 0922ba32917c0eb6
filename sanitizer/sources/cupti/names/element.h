// Element types as kernel names spell them, from the one dtype table (rules/dtype/dtypes.inc). Only
// floating-point types are answered: an integer in the place of an element is storage, and says nothing about
// its contents.
#pragma once

#include <cstdint>
#include <string_view>

namespace dtype_guard::san::cupti {

// Of a C++ type, "cutlass::half_t const*" say: DLPack code << 16 | bits << 8 | lanes; 0 when it is none.
std::uint32_t element_of_type(std::string_view type);

// Of a token such as "bf16" or "f32".
std::uint32_t element_of_token(std::string_view token);

}  // namespace dtype_guard::san::cupti
