// Which line made an autograd node, for the nodes of calls that a contract speaks of and of autograd
// Functions: a finding in a backward call names the line of its forward by the node's number and thread, or
// says that it cannot. Bounded: later nodes take the places of earlier ones.
#pragma once

#include <cstdint>

#include "sanitizer/process/process.h"
#include "sanitizer/sources/torch/library.h"
#include "sanitizer/sources/torch/thread_records.h"

namespace dtype_guard::san::torch {

// Where nodes cannot be read no line is known.
void start_forward_lines(const Library& library);

// Around a call: its nodes are those with the numbers that this thread gave out meanwhile.
void begin_forward(OpenRecord& open);
void end_forward(const OpenRecord& open);

// For a finding on this thread: 0 outside of backward, the journal's number of the forward's place, which is
// written there, or kForwardUnknown.
std::uint32_t find_forward(Process& process);

}  // namespace dtype_guard::san::torch
