// The CUPTI source in the watched process: started by the CUDA driver when it is initialised
// (CUDA_INJECTION64_PATH), it counts kernel launches by name and notes the first of each with its stack.
#pragma once

#include "sanitizer/runtime/process.h"

namespace dtype_guard::san::cupti {

// Writes the final counts and the source's state; nothing when the source was never started.
void record_end(Process& process, Scratch& scratch);

}  // namespace dtype_guard::san::cupti
