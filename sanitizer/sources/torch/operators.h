// What is known of an operator by its name: whether a contract speaks of it, and whether the records inside
// it are its own parts. Kept by the name's text, and looked up by its address first: that of an operator of
// the dispatcher stays, while records that are named by a string (autograd Functions and nodes, regions) use
// many addresses, each for several texts. So the text is compared in either case.
//
// Bounded; the names that contracts have are in from the start, so that there is room for them.
#pragma once

#include <string.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sanitizer/contracts/contract_table.h"

namespace dtype_guard::san::torch {

// What an operator is, for attention that is written by hand.
enum class Part : std::uint8_t {
  kNone,
  kProjection,  // by weights: what comes out has the dtype of the model, whatever promoted before
  kProduct,     // of two activations, or by weights where one has two dimensions
  kSoftmax,
  kCast,      // the program names the dtype that it wants
  kFunction,  // none of PyTorch's: an autograd Function, named by its class
  kNode,      // an autograd node that the engine runs
  kRegion,    // code that torch.compile compiled, whatever it calls
};

struct alignas(64) Operator {
  static constexpr std::size_t kLongestName = 112;
  enum class State : std::uint32_t { kFree, kTaken, kDescribed };

  std::atomic<State> state;
  std::uint32_t hash;   // of the text
  std::int16_t record;  // number for record_row(), or -1
  bool is_call;         // that row is a contract of calls, and not one of what raises
  Part part;
  bool is_whole;  // an operator of PyTorch's own: what runs inside is part of it
  char name[kLongestName];
};

// An autograd node that the engine runs; each has a name of its own in memory.
inline bool is_node(const char* name) {
  constexpr char kPrefix[] = "autograd::engine::evaluate_function: ";
  return name[0] == kPrefix[0] && name[1] == kPrefix[1] && strncmp(name, kPrefix, sizeof kPrefix - 1) == 0;
}

class Operators {
 public:
  static constexpr std::size_t kOperators = 4096, kProbes = 32;

  bool start();
  // Where there is no room, what an operator without a contract has.
  const Operator& find(const char* name);

  static constexpr std::size_t bytes() { return sizeof(Operator) * kOperators; }

 private:
  const Operator* find_text(const char* name);

  static constexpr std::size_t kSets = 2048, kWays = 2;
  Operator* operators_ = nullptr;
  std::atomic<const Operator*> recent_[kSets][kWays] = {};  // by the name's address
};

inline constinit Operators operators;

}  // namespace dtype_guard::san::torch
