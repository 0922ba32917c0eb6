// The module map: which file an address belongs to. Each module that a record refers to is written to the
// journal once, before the record, with what a reader needs to find the same file again (path, build-id or
// size and time).
#pragma once

#include <cstdint>

#include "sanitizer/process/process.h"

namespace dtype_guard::san {

// Writes the modules of these addresses that the journal lacks and stores each address's module number in
// `ids` (0: no module, for example generated code).
void record_modules(Process& process, Scratch& scratch, const std::uintptr_t* addresses, std::uint32_t* ids,
                    std::size_t count);

}  // namespace dtype_guard::san
