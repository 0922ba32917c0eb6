// How often each finding and each API came: frames of the journal, where it has not got them yet. While a
// process runs they are written at powers of two.
#pragma once

#include <cstdint>

#include "sanitizer/contracts/watched_call.h"
#include "sanitizer/process/process.h"

namespace dtype_guard::san {

struct Scratch;

std::uint32_t slot_index(const Process& process, const FindingSlot& slot);
void write_count(Process& process, Scratch& scratch, FindingSlot& slot);
void write_calls(Process& process, Scratch& scratch, ApiId api);

// The calls of an API so far, for a journal that is open. What ends a process by a signal leaves no closing
// record.
void record_calls(Process& process, ApiId api);

// All of them, as they are now. Gives the number of findings in the journal.
std::uint64_t write_repeats(Process& process, Scratch& scratch);

// A note of the children that are not watched, if there were any since the last one (bare_children.h).
void write_bare_children(Process& process, Scratch& scratch);

// Both, for a program that reads the journal while it runs. Nothing where there is no journal.
void record_repeats(Process& process);

}  // namespace dtype_guard::san
