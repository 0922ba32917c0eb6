// Objects that roots are given, as their constructors leave them. To make one takes longer than most of its
// methods do, so it is made once for all roots of its class that one engine evaluates. Each of them starts
// from the same state: what it does to the object, no other root finds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyzer/flow/engine/speculation.h"
#include "analyzer/flow/program/constructions.h"
#include "analyzer/flow/state/state.h"

namespace dtype_guard::flow {

struct MadeObject {
  Value object;
  State state;                         // with the object, and whatever else making it left
  Effects effects;                     // of making it
  std::unordered_set<HeapId> several;  // of its parts, those that stand for several
  std::string problem;                 // why it could not be made; empty: it was
};

// One that the program makes (roots/witnesses.cpp).
struct Witness {
  MadeObject made;
  Construction at;
};

// A call in the program that may run the root, with what arrived there when its function was evaluated
// (roots/handed.cpp).
struct HandedCall {
  const Instruction* call = nullptr;
  State state;
};

struct MadeObjects {
  // By class, source file, and whether constructors are called with what their parameters have by default.
  std::map<std::tuple<std::string, std::uint32_t, bool>, MadeObject> known;
  bool by_defaults = false;
  bool called_by_defaults = false;  // the root is: what its callers may leave out, they do
  std::size_t steps = 0;            // in making them for the last root
  int being_made = 0;               // inputs of constructors of inputs of constructors ...
  bool half_buffers = false;        // of the object that is being made for the root
  // By class and source file, and those of the last root. While they are looked for: of which class, and what
  // was made of it so far.
  std::map<std::pair<std::string, std::uint32_t>, std::vector<Witness>> witnesses;
  std::vector<Witness>* of_root = nullptr;
  std::string watched;
  std::vector<std::pair<HeapId, Construction>> noted;
  const Witness* given = nullptr;  // to the root, in place of one that is made for it
  // Of the root, and while they are looked for.
  std::vector<HandedCall> calls;
  const Instruction* watched_call = nullptr;
  std::optional<State> arrived;
  const HandedCall* handed = nullptr;  // to the root, where the code leaves open what it is
  void give(std::size_t which) { given = &(*of_root)[which]; }
  const Construction* construction() const { return given ? &given->at : nullptr; }
};

}  // namespace dtype_guard::flow
