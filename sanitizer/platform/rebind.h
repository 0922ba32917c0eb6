// Words that the loader has set to the address of a function, led elsewhere.
#pragma once

#include <cstdint>

#include "sanitizer/platform/loaded_object.h"

namespace dtype_guard::san {

// Writes such a word of `object`, also where it is read-only by now; false when that is refused.
bool rebind(const LoadedObject& object, std::uintptr_t* place, std::uintptr_t value);

}  // namespace dtype_guard::san
