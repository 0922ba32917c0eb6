// What evaluating takes besides instructions: what this thread looked at, compared and copied of states. It
// is noted where it happens, for the size of a state does not tell it: most of one is shared and not looked
// at. In parts of a step (Work): measured on programs with much and little of each, and the same on every
// machine.
#pragma once

#include <cstddef>
#include <utility>

namespace dtype_guard::flow {

class Effort {
 public:
  enum class Of : std::size_t {
    kSymbol = 32,    // of two sets that are compared or united
    kEntry = 256,    // of a state's array, compared or searched; of a guard that is met with another
    kJoined = 512,   // an entry that differs where ways meet, for each of them
    kAnswer = 1024,  // what a guard says of a value
    kLeaf = 1280,    // several objects, which are asked whether they may hold a value
    kCell = 1536,    // of an object that is copied because it changes
    kUnited = 3072,  // two sets of symbols, known already or not
  };
  static void note(Of what, std::size_t count = 1) { noted_ += static_cast<std::size_t>(what) * count; }
  // Since it was last taken.
  static std::size_t take() { return std::exchange(noted_, 0); }

 private:
  inline static thread_local std::size_t noted_ = 0;
};

}  // namespace dtype_guard::flow
