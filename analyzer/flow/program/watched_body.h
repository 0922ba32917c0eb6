// A call of a function that has a contract and a body in the same file is both: the body is followed, and
// what it leaves open of an operand, because it only hands it on to a kernel, the contract says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>

#include "analyzer/flow/program/function_index.h"
#include "rules/dtype/dtype_set.h"

namespace dtype_guard::flow {

// The call whose body is followed: a `sink` without result stands before it, and has its arguments but for
// the object that a method is called on. Null for another sink.
const Instruction* body_behind(const Block& block, const Instruction& sink);
std::size_t object_arguments(const Instruction& sink, const Instruction& call);

// What a body does with an operand.
enum class Use : std::uint8_t {
  kNone,      // nothing that would need its dtype
  kHandedOn,  // gives its data to unseen code: a launched kernel, a function without a body
  kOwn,       // casts it, computes with it, hands it to another call that has a contract, or asks for a
              // floating dtype beside `accepted`: it takes what it likes, whatever a contract says
};

class WatchedBodies {
 public:
  explicit WatchedBodies(const FunctionIndex& index) : index_(index) {}
  // Of the argument at `position` of the function that `call` runs.
  Use use_of_operand(const Instruction& call, std::size_t position, DtypeSet accepted) const;

 private:
  const FunctionIndex& index_;
  // Each root asks again, and each trial of a fix: by function, position and accepted dtypes.
  mutable std::map<std::tuple<std::uint32_t, std::size_t, std::uint64_t>, Use> known_;
};

}  // namespace dtype_guard::flow
