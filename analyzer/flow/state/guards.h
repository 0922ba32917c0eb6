// Guards are the undecided branches and checks that were passed on the way to a point. Where ways meet, those
// that differ are over if every way through the branch comes here; the others go on to have
// a say in what is reached: one case of a switch is entered by several comparisons, none of which is certain.
#pragma once

#include <vector>

#include "analyzer/flow/program/function_info.h"
#include "analyzer/flow/values/symbols.h"
#include "analyzer/flow/values/values.h"

namespace dtype_guard::flow {

// That what these symbols decide is that constant, or is not.
struct Comparison {
  SymbolSetId of = 0;  // 0: it is no such question
  std::int64_t constant = 0;
  bool equal = false;
  friend auto operator<=>(const Comparison&, const Comparison&) = default;
};

struct Guard {
  ContextId context = 0;
  BlockId block = 0;  // of the branch or check
  bool taken = false;
  SymbolSetId symbols = 0;  // what decides it
  SymbolSets::Passage passage = 0;
  bool is_check = false;       // the other way throws
  bool leaves_a_loop = false;  // or would
  Comparison test = {};
  bool on_some_ways = false;  // where ways met not all had passed it: it excludes nothing
  friend auto operator<=>(const Guard&, const Guard&) = default;
};
using Guards = std::vector<Guard>;  // sorted

// Where ways of one activation meet: a block, or its end.
struct Meeting {
  ContextId context = 0;
  const FunctionInfo* info = nullptr;  // null: the end
  BlockId block = 0;
  // One more round of a loop is not a condition that a later branch could share.
  bool starts_loop = false;
  // Values of the round before: nothing uses them before they are computed anew.
  bool forgets(ValueId id) const { return starts_loop && info->order[block] <= info->defined_at(id); }
  bool ends(const Guard& guard) const { return !info || info->always_follows(guard.block, block); }
};

void add_guard(Guards& guards, const Guard& guard);
// What is left of a value is behind certain ways of branches, which the run took then: what else came over
// the other ways is not there either.
void add_ways(Guards& guards, const std::vector<Alternative>& left, const std::vector<Alternative>& left_out,
              ContextId context, BlockId block, const SymbolSets& symbols);

// What one of the ways that meet has passed and not all of them have, and all that decides that.
struct Side {
  Guards guards;
  SymbolSetId symbols = 0;
  SymbolSetId of_numbers = 0;  // what decides a number that was computed on this way
  // Whether something in force asks of the same and may have decided against it: `if (mode == 2) return; if
  // (mode == 2) q = wide;`.
  bool is_doubtful = false;
};
Side side_of(Guards passed, const Guards& in_force, SymbolSets& symbols);

// What is still in force where these ways meet.
Guards meet(const std::vector<const Guards*>& ways, const Meeting& meeting);
// What each of them has passed besides.
std::vector<Side> sides_of(const std::vector<const Guards*>& ways, const Guards& in_force,
                           const Meeting& meeting, SymbolSets& symbols);

// What something that got here under conditions is told of them. That it was made behind a guard is no
// question asked again.
SymbolSets::Relation relation(SymbolSetId conditions, const Guards& guards, const SymbolSets& symbols);

// The caller's guards, and one for the checks that the callee passed however it went.
Guards after_call(Guards before, const Guards& after, ContextId callee, SymbolSets& symbols);

}  // namespace dtype_guard::flow
