// What happens off the clean path: the first call of an API, and a call that breaks its contract. The latter
// is reduced to a key (API, dtypes, stack, operands whose origins are not known though they are noted); a new
// key becomes one frame in the journal, a known one is only counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sanitizer/contracts/watched_call.h"
#include "sanitizer/journal/call_frames.h"
#include "sanitizer/process/process.h"

namespace dtype_guard::san {

// Notes in the journal that `api` was called, in the copy that holds this address.
void record_first_call(Process& process, ApiId api, std::uintptr_t kernel);

// A call that its contract does not allow; required operands are not NULL. Does not return when halt_on_error
// is set.
void record_violation(Process& process, const WatchedCall& call);
// The same with origins that the source finds itself; it is asked for a finding that may be new.
using OriginFinder = void (*)(Process& process, const WatchedCall& call, FindingDetail& detail);
void record_violation(Process& process, const WatchedCall& call, OriginFinder find);

// An accepted call whose operand `at` holds bits that were written as another dtype.
void record_reinterpretation(Process& process, const WatchedCall& call, std::size_t at, const Origin& origin);

// The site of a call that the map of places does not know: its number, and a frame with its operands and
// stack when it is new. 0 when it could not be written.
std::uint32_t record_site(Process& process, const WatchedCall& call);

// Opens the journal of a process that is of interest before its first call, so that "no call was seen" can be
// said. `remark` goes into it, if there is one. A process with a watched library keeps the descriptor from
// then on: later it may lack room for one, or be in another root, or another user.
void record_process(Process& process, const char* remark, bool keeps_descriptor);

// Writes the counts so far, and that the process is about to become the program at `path`.
void record_exec(Process& process, std::string_view path);

// Writes the final counts; gives the number of distinct findings of this process.
std::uint64_t record_end(Process& process);

}  // namespace dtype_guard::san
