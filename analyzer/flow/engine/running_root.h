// The root that is being evaluated, and how it is called where the code leaves that open. Objects that roots
// are given are as their constructors leave them. To make one takes longer than most of its methods do, so it
// is made once for all roots of its class that one engine evaluates; each of them starts from the same state.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>

#include "analyzer/flow/engine/speculation.h"
#include "analyzer/flow/program/constructions.h"
#include "analyzer/flow/state/state.h"

namespace dtype_guard::flow {

struct MadeObject {
  Value object;
  State state;                         // with the object, and whatever else making it left
  Effects effects;                     // of making it
  std::unordered_set<HeapId> several;  // of its parts, the summary objects
  std::string problem;                 // why it could not be made; empty: it was
};

// One that the program makes (roots/known_cases.cpp).
struct Witness {
  MadeObject made;
  Construction at;
};

// A call in the program that may run the root, with what arrived there when its function was evaluated.
struct HandedCall {
  const Instruction* call = nullptr;
  State state;
};

// One of these, in place of one that is made for a parameter of the root.
struct HandedObject {
  std::size_t parameter = 0;
  const Witness* object = nullptr;
};

struct RootCase {
  bool made_by_defaults = false;     // its object's constructors are called with what they have by default
  bool called_by_defaults = false;   // what callers may leave out, they do
  const Witness* object = nullptr;   // in place of one that is made for it
  const HandedCall* call = nullptr;  // what it is handed, where the code leaves that open
  HandedObject handed;               // null: nothing
  const Construction* construction() const {
    return object ? &object->at : handed.object ? &handed.object->at : nullptr;
  }
};

// A record: Roots and Inputs write it (roots/), and hand it to the other parts as a constant.
struct RunningRoot {
  std::uint32_t unit = 0;  // its source file
  bool is_closed = false;  // it is a whole program: nothing else calls its functions
  RootCase how;
  int objects_in_making = 0;  // inputs of constructors of inputs of constructors ...
};

}  // namespace dtype_guard::flow
