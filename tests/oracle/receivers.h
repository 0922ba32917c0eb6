// Classes of which an object decides what a call runs, and a function that takes whatever it is handed.
#pragma once

#include "analyzer/flow/ir/ir.h"
#include "tests/oracle/recipe.h"
#include "tests/oracle/writer.h"

namespace dtype_guard::oracle {

// Two classes and one that inherits, and so do some of its methods.
inline constexpr const char* kReceivers[] = {"Left", "Right", "Under"};
inline constexpr const char* kMethods[] = {"forward", "apply"};
inline constexpr const char* kWithFlag = "apply";  // takes one beside the tensor, or leaves it out
inline constexpr const char* kHeld = "a";          // the tensor that each of them holds
inline constexpr const char* kGather = "gather";   // takes a tensor, further ones, and others by name
class OpenAtoms;
void add_receivers(flow::Module& module, Random& random, int& line, const Recipe& recipe, OpenAtoms& atoms);

}  // namespace dtype_guard::oracle
