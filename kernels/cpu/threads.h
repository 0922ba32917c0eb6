// How work is spread over threads: by OpenMP where the compiler has it, else by threads that live for one
// call (so under ThreadSanitizer, which cannot see into OpenMP's run-time library). Small calls stay on the
// calling thread, which keeps them cheap and keeps a program that forks free of a thread pool it never
// needed. A process that was forked may have lost the threads of a pool, this library's or another's, without
// OpenMP's knowing: it takes threads that live for one call.
#pragma once

#include <cstdint>

namespace flash_ref::cpu {

// How many threads pay off for `work` in multiply-adds or elements and `pieces` that can run at the same
// time.
int useful_threads(double work, std::int64_t pieces);

namespace threads {
using Body = void (*)(void* context, std::int64_t piece, int thread);
void run(std::int64_t pieces, int count, Body body, void* context);
}  // namespace threads

// Calls body(piece, thread) for each piece, in no order; thread < count.
template <class Function>
void run_pieces(std::int64_t pieces, int count, const Function& body) {
  threads::run(
      pieces, count,
      [](void* context, std::int64_t piece, int thread) {
        (*static_cast<const Function*>(context))(piece, thread);
      },
      const_cast<Function*>(&body));
}

}  // namespace flash_ref::cpu
