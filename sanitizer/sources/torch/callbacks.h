// The callbacks that libtorch calls at the start and the end of each record: contracts are checked before an
// operator runs, origins are noted when it has.
#pragma once

#include "sanitizer/sources/torch/library.h"

namespace dtype_guard::san::torch {

// From now on; `library` and the probed layout stay as they are. Gives the callback's number.
std::uint64_t add_callbacks(const Library& library, bool notes_origins);

}  // namespace dtype_guard::san::torch
