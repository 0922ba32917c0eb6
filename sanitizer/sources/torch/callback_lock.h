// Libtorch's lock of its list of callbacks. A thread takes it as it meets a list that has changed, with its
// first operator, and in each backward pass. In a child that another thread forks at that moment it stays
// held: the first operator of a new thread there, as a data loader's worker has, waits for ever. With
// callbacks in the list it is held for longer, while they are copied; so the thread that forks holds it over
// the fork.
//
// Nothing exports it. It shows as a callback is added: it is the only mutex that libtorch locks for that.
#pragma once

#include "sanitizer/sources/torch/abi.h"
#include "sanitizer/sources/torch/library.h"

namespace dtype_guard::san::torch {

// Adds a callback of no scope and removes it. From then on forks hold the lock.
void find_callback_lock(const Library& library);

// Several mutexes were locked, so it is not known which one is meant.
bool is_callback_lock_unknown();

}  // namespace dtype_guard::san::torch
