// Programs that a child of this process became without the library in its environment: nothing of
// them is watched, and only this process can say so. They are told of through a page that children share with
// the process whose journal is open, because the child of a fork has no journal of its own, and must not open
// one for that.
#pragma once

#include <cstdint>

#include "sanitizer/protocol/notes.h"  // the note of them

namespace dtype_guard::san {

// At the opening of this process's journal. Does nothing when the library came in by other ways than
// LD_PRELOAD.
void expect_bare_children();

// Before an exec with these variables.
void note_environment(const char* const* variables);

// After a child was started by posix_spawn with these variables.
void note_spawned(const char* const* variables);

// How many there were since the last time.
std::uint64_t take_bare_children();

}  // namespace dtype_guard::san
