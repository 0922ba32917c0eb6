// Which calls the evaluation went into, and at which it lost sight: there nothing of what is called is known.
#pragma once

#include <unordered_set>

namespace dtype_guard::flow {

struct Instruction;

struct FollowedCalls {
  std::unordered_set<const Instruction*> followed;  // in some state
  std::unordered_set<const Instruction*> lost;      // in some state
};

}  // namespace dtype_guard::flow
