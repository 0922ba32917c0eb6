// Rounds of loops: which ranks are of the running round, and which objects are of any.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyzer/flow/engine/activation.h"
#include "analyzer/flow/engine/subject.h"
#include "analyzer/flow/state/state.h"

namespace dtype_guard::flow {

class Rounds {
 public:
  explicit Rounds(Names& names) : symbols_(names.symbols), ids_(names.ids) {}

  void note_round(const Activation& activation, RankSymbol symbol);
  bool is_of_rounds(RankSymbol symbol) const { return made_in_rounds_.contains(symbol); }
  Value kept_in(State& state, HeapId object, const Value& value);
  void become_several(State& state, const Value& objects, int depth = 0);
  void end_round(const Activation& activation, BackEdge edge, State& state, const State& begun);
  std::vector<Side> sides_of_rounds(const Activation& activation, BlockId head,
                                    const std::vector<const State*>& ways, std::size_t first);
  void leave_loops(const Activation& activation, BlockId from, BlockId to, State& state);

 private:
  SymbolSets& symbols_;
  Identities& ids_;
  // By activation: the symbols of what is made anew in each round of its loops, with its block there.
  std::map<ContextId, std::set<std::pair<RankSymbol, BlockId>>> of_rounds_;
  std::unordered_set<RankSymbol> made_in_rounds_;  // all of these
};

}  // namespace dtype_guard::flow
