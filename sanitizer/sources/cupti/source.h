// The CUPTI source in the watched process: counts kernel launches by name, notes the first of each with its
// stack, and finds casts that feed attention. The CUDA driver starts it when it is initialised
// (CUDA_INJECTION64_PATH); where it could not, because the library came later, start_late() does.
#pragma once

#include <atomic>

#include "sanitizer/runtime/process.h"

namespace dtype_guard::san::cupti {

// Whether the options and the way in ask for launches at all.
bool is_wanted();

// The subscription was given back because watching was switched off, and is taken again once it is on.
inline constinit std::atomic<bool> given_back{false};

// Subscribes if that is wanted, was not tried yet, and the driver is initialised. Cheap when there is nothing
// to do.
void start_late();

// Watching was switched on or off in this process. Off gives the subscription back.
void switched(bool on);

// Writes the final counts and the source's state; nothing when the source was never started.
void record_end(Process& process, Scratch& scratch);

// For dlsym: our function where a client asks for one of CUPTI's that subscribes, else nullptr.
void* stand_in(const char* name);

}  // namespace dtype_guard::san::cupti
