// Opens this process's journal and appends frames to it. Opening happens at the first watched call (or at
// load, in the command that `dtype-san run` started and in programs linked with a watched library), so that a
// process that has nothing to do with attention leaves no trace.
#pragma once

#include "sanitizer/runtime/journal.h"
#include "sanitizer/runtime/process.h"

namespace dtype_guard::san {

// True when the journal is open; opens it if nobody has tried yet. A failure is told once on stderr, then the
// process goes on without a journal.
bool open_journal(Process& process, Scratch& scratch);

// Appends the frame in one write(). False when it could not be written whole.
bool append_frame(Process& process, FrameBuilder& frame, const Scratch& scratch);

// Lets go of the descriptor; the next append opens the file again.
void release_journal(Process& process);

}  // namespace dtype_guard::san
