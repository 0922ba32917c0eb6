// Origins for some of the time: in the first and every n-th step of the job's optimizers (option
// torch_every), which a record of `Optimizer.step` ends, or for some milliseconds of each second (option
// torch_ms), from a call of an attention operator on. What was made outside of a window has no origin: one
// lasts until two such calls have ended in it, and the next comes later by as much.
//
// Where thunks see the calls (bound_operators.h) the callback is added for the window alone: outside of it
// other operators cost nothing.
#pragma once

#include <atomic>
#include <cstdint>

#include "sanitizer/sources/torch/library.h"

namespace dtype_guard::san::torch {

enum class Windows : std::uint8_t { kNone, kSteps, kTimed };
struct WindowPlan {
  Windows kind = Windows::kNone;
  std::uint64_t every = 1;         // steps
  std::uint64_t milliseconds = 0;  // of each second
  // Adds the callback that is there in the window alone; nullptr where it is there all the time.
  std::uint64_t (*add_callback)() = nullptr;
};

// The first window opens. Origins are on.
void start_windows(const WindowPlan& plan);

// A call that a thunk tells of: a window that is due opens. True inside of one, where the record of the call
// tells more; not for the call that opened it, whose operands are older than the window.
bool window_at_call();
// Whether this thread's call is that one: the thunk has looked at it.
bool has_opened_window();
// The record of a call that a contract speaks of has ended.
void note_call_in_window();
// A record: a window that is over closes.
void close_window_at_record();

inline constinit std::atomic<bool> has_timed_windows{false};

}  // namespace dtype_guard::san::torch
