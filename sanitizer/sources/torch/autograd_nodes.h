// The number and the thread of the autograd node whose backward a thread runs: by these a backward call is
// known to belong to a forward one. Where a node keeps them differs between releases, so it is found at the
// start, from three nodes that are made one from another; where it is not found no node is known.
#pragma once

#include <cstdint>

#include "sanitizer/sources/torch/library.h"

namespace dtype_guard::san::torch {

struct NodeIdentity {
  std::uint64_t sequence, thread;
};

// Adds three products to what the probe made. False where nodes are not read.
bool probe_nodes(const Library& library);
bool are_nodes_read();

enum class Backward : std::uint8_t { kNone, kInside, kUnasked };
// What this thread runs. Not asked where nodes are not read.
Backward current_backward(const Library& library, NodeIdentity& node);

}  // namespace dtype_guard::san::torch
