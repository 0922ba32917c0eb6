// Ranks as a program proves them: by what it asks, checks and calls. What is proved holds from there on, and
// for every value that is known to have the same rank (values/ranks.h).
#pragma once

#include <string_view>

#include "analyzer/flow/engine/memory/memory.h"
#include "analyzer/flow/engine/running_root.h"
#include "analyzer/flow/engine/sink_record.h"
#include "analyzer/flow/operators/operator_rank.h"
#include "analyzer/flow/values/ranks.h"

namespace dtype_guard::flow {

// q.dim() == 4, q.sizes().size() >= 2. False where the rank is known to be another.
bool refine_count(State& state, const Instruction& comparison, bool wanted);

class Ranks {
 public:
  Ranks(Names& names, const RunningRoot& root, Rounds& rounds, Memory& memory)
      : ids_(names.ids), symbols_(names.symbols), root_(root), rounds_(rounds), memory_(memory) {}

  RankInputs rank_inputs(const Instruction& instruction, State& state);
  void prove_ranks(const Activation& activation, const Operator& op, const Instruction& instruction,
                   State& state);
  RankFacts proved_by(const SinkRecord& record) const;
  Rank own_rank(const Activation& activation, const Instruction& instruction, Rank rank);
  Alternative dimensions_asked(const Activation& activation, std::string_view question,
                               const Instruction& instruction, State& state);

 private:
  Rank length(const State& state, const Value& list);
  // False when it contradicts what is known.
  bool learn(const Activation& activation, State& state, const Value& tensor, const Rank& interval);
  Value keep_within(const Activation& activation, State& state, Value tensor, const Rank& interval);

  Identities& ids_;
  SymbolSets& symbols_;
  const RunningRoot& root_;
  Rounds& rounds_;
  Memory& memory_;
};

}  // namespace dtype_guard::flow
