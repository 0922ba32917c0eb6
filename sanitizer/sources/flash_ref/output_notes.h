// What a call wrote goes into the map of origins (process/origins.h). No allocation, lock, atomic
// read-modify-write, system call or clock on the clean path.
#pragma once

#include "sanitizer/process/process.h"

namespace dtype_guard::san {

// After a call that succeeded: notes what it wrote, and reports operands that it read as another dtype than
// they were written as.
void note_outputs(Process& process, const WatchedCall& call);
template <ApiId api>
void note_outputs_of(Process& process, const DLTensor* const* operands, std::uintptr_t caller);

}  // namespace dtype_guard::san
