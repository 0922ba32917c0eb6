// Copies of flash_ref that carry an observer slot (flash_ref/observer.h): found by their ELF note when this
// library is loaded, announced by themselves when they are loaded later. Such a copy is watched through its
// slot alone, however its kernels are called: by the linker, by dlsym, by ctypes, from inside, linked in
// statically.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/process/process.h"

namespace dtype_guard::san {

// Looks at every loaded object and starts to observe the copies that are new. Safe to call at any time.
void observe_loaded_copies();

// The same in the namespaces of dlmopen, when their objects have changed since; else it costs some loads.
// What cannot be watched there is written to the journal.
void observe_foreign_copies();

// From now on sources are told of the calls.
void tell_of_calls();

// Whether the copy that holds this address is watched by its slot.
bool is_observed(std::uintptr_t address);
bool observes_any_copy();
std::uint32_t observed_copy_count();

// Writes the copies that this process's journal does not name yet.
void record_copies(Process& process, Scratch& scratch);

}  // namespace dtype_guard::san
