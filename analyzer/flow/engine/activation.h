// What the engine keeps while it evaluates: one run of a function, and what a place in its code stands for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/flow/engine/work.h"
#include "analyzer/flow/program/function_info.h"
#include "analyzer/flow/state/state.h"

namespace dtype_guard::flow {

// A stub (ir.h) as it stands at one call: its own code, with the call's place in each instruction.
struct Stub {
  explicit Stub(Function placed) : code(std::move(placed)), info(code) {}
  Function code;
  FunctionInfo info;
};

struct Activation {
  std::uint32_t function;
  const Function& code;
  const FunctionInfo& info;
  ContextId context;
  HeapId frame;
  std::vector<Value> arguments;
  int depth;
  const Activation* caller;
  std::map<BlockId, State> returns, begun;  // by the block that does; by the head of a loop, before it ran
  std::optional<State> finish;              // what they have in common
  BlockId block = 0;                        // that is being executed
};

// Whether it is in a loop, or a caller of it.
bool is_repeated(const Activation& activation);
bool leaves_a_loop(const Activation& activation, BlockId block);
// Whether it is a constructor, or called by one.
bool makes_object(const Activation& activation);

// An evaluation ended before its function did; what() says why.
class EvaluationEnded : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
// It was given up, and its root with it.
class BudgetExceeded : public EvaluationEnded {
 public:
  using EvaluationEnded::EvaluationEnded;
};
// What runs at the watched call is known (Sightings).
class NothingToHand : public EvaluationEnded {
 public:
  NothingToHand() : EvaluationEnded("what runs at the watched call is known") {}
};

// How a lambda escapes: as an argument, into what the front end does not follow, or kept in an
// object until it is run.
enum class Escape : std::uint8_t { kHanded, kLost, kKept };

// Of a loop, which is taken to go round once more.
struct BackEdge {
  BlockId from, to;
};

struct Location {
  HeapId object;
  Key key;
  SymbolSetId symbols = 0;  // conditions under which it is this object
};
struct Target {
  std::vector<Location> locations;
  Value direct;          // what the path reached without a cell of its own: a field of a tensor, an unknown
  bool element = false;  // the direct part is an element of a buffer
};

// Of modules that a root leaves behind, by class.
struct Halves {
  std::set<std::string> half, other;
  std::set<std::pair<std::string, std::string>> owned;  // by an object of the first, not half
};

}  // namespace dtype_guard::flow
