// Where parts of the engine re-enter it: what they find is to be run, it runs.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analyzer/flow/engine/activation.h"

namespace dtype_guard::flow {

// What a root left half, and what it ran on the way.
struct HalvesOfRoot {
  std::map<Registration::Kind, Halves> halves;
  std::set<std::uint32_t> has_run;
};

class Evaluator {
 public:
  Evaluator() = default;
  virtual ~Evaluator() = default;
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  // What the function gives when it is called in that state, which becomes what it leaves behind. `alive` is
  // false where it does not return. Throws BudgetExceeded.
  virtual Value call(std::uint32_t function, std::vector<Value> arguments, State& state, ContextId context,
                     const Activation* caller, bool& alive, const Instruction* site = nullptr) = 0;
  // What an operator gives.
  virtual Value operation(const Activation& activation, const Instruction& instruction, State& state) = 0;
  // An object of a class that the code has asked for where the instruction stands, as a caller hands one in;
  // unknown where none can be made.
  virtual Value object_asked_for(const std::string& class_name, const Activation& activation,
                                 const Instruction& test, State& state) = 0;
  // Of a root that is evaluated apart from all else. Throws BudgetExceeded.
  virtual HalvesOfRoot halves_of(std::uint32_t root) = 0;
};

}  // namespace dtype_guard::flow
