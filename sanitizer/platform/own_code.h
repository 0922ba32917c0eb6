// Where this library's own code lies.
#pragma once

#include <cstdint>

namespace dtype_guard::san {

// Whether an address lies in this library.
bool is_own_code(std::uintptr_t address);

}  // namespace dtype_guard::san
