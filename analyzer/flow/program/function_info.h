// What the engine looks up about a function again and again, computed once: which instruction defines a
// value, the order to visit blocks in, and who precedes whom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/flow/ir/ir.h"
#include "analyzer/flow/program/postdominators.h"

namespace dtype_guard::flow {

struct FunctionInfo {
  explicit FunctionInfo(const Function& function);
  const Instruction* definition(ValueId id) const {
    return id < definitions.size() ? definitions[id] : nullptr;
  }

  // Whether every path from `block` to a return passes `later`.
  bool always_follows(BlockId block, BlockId later) const;

  std::vector<const Instruction*> definitions;  // by ValueId
  std::vector<std::uint32_t> order;             // by BlockId: position in reverse postorder
  // The position of the block that computes a value.
  std::uint32_t defined_at(ValueId id) const { return id < defined_at_.size() ? defined_at_[id] : 0; }
  bool is_used(ValueId id) const { return id < used_.size() && used_[id]; }
  std::vector<bool> repeats;  // by BlockId: may run again in one activation
  struct Edge {
    BlockId from = 0;
    std::size_t slot = 0;  // which of the terminator's targets
    bool back = false;     // ends at a block that is visited no later than its start
  };
  std::vector<std::vector<Edge>> incoming;  // by BlockId
  // Blocks that can come back to `head` without leaving.
  struct Loop {
    BlockId head = 0;
    std::vector<bool> blocks;
    bool is_left_by(BlockId from, BlockId to) const { return blocks[from] && !blocks[to]; }
  };
  std::vector<Loop> loops;
  std::vector<bool> always_throws;  // by BlockId: no path from it returns

 private:
  const Function* code_;
  std::vector<std::uint32_t> defined_at_;  // by ValueId
  std::vector<bool> used_;                 // by ValueId: some instruction takes it
  mutable std::optional<Postdominators> after_;
};

// The parameter that `param` reads; null where that is the object, or what a lambda captured.
const Parameter* parameter_of(const Function& code, const Instruction& param);
// Of a call that hands over an object first: which parameter that argument is for, by its name where it has
// one; nothing where that cannot be said, as of what *args and **kwargs take.
std::optional<std::size_t> parameter_for(const Function& callee, const Instruction& call,
                                         std::size_t argument);

// Whether a call of it makes an object: what a class is as a value.
bool stands_for_class(const Function& function);

// The source files that have a function's definition; {0} in a module that was not linked.
const std::vector<std::uint32_t>& units_of(const Function& function);

}  // namespace dtype_guard::flow
