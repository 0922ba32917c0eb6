// Opens this process's journal and appends frames to it. Opening happens at the first watched call (or at
// load, in the command that `dtype-san run` started and in programs linked with a watched library), so that a
// process that has nothing to do with attention leaves no trace.
#pragma once

#include <string_view>

#include "sanitizer/platform/text_buffer.h"
#include "sanitizer/process/process.h"
#include "sanitizer/protocol/journal.h"

namespace dtype_guard::san {

// True when the journal is open; opens it at the first try, with kAgain also if that has failed
// before. A failure is told once on stderr; the process goes on without a journal.
enum class Attempt : std::uint8_t { kOnce, kAgain };
bool open_journal(Process& process, Scratch& scratch, Attempt attempt = Attempt::kOnce);

// Writes what the process is, where the journal could not take that before.
void describe_process(Process& process, Scratch& scratch);

// Appends the frame in one write(). False when it could not be written whole.
bool append_frame(Process& process, FrameBuilder& frame, const Scratch& scratch);

// What a reader of the report is to know: `text`, and `more` behind it.
void write_note(Process& process, Scratch& scratch, std::string_view text, std::string_view more = {});

// In a forked child: closes the descriptor of its parent's journal.
void close_parents_journal();

// Lets go of the descriptor; the next append opens the file again. One in memory stays.
void release_journal(Process& process);

}  // namespace dtype_guard::san
