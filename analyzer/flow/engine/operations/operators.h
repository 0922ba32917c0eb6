// Operators of the table: every combination of what the inputs may be goes through it.
#pragma once

#include "analyzer/flow/engine/conditions/proved_ranks.h"
#include "analyzer/flow/engine/operands.h"
#include "analyzer/flow/engine/speculation.h"
#include "rules/operators/operators.h"

namespace dtype_guard::flow {

class Operators {
 public:
  Operators(const Subject& subject, Names& names, Effects& effects, Rounds& rounds, Memory& memory,
            Ranks& ranks)
      : options_(subject.options),
        torch_version_(subject.torch_version),
        origins_(names.origins),
        symbols_(names.symbols),
        ids_(names.ids),
        effects_(effects),
        rounds_(rounds),
        memory_(memory),
        ranks_(ranks) {}

  Operands operands(const Instruction& instruction, const Operator& op, const State& state);
  bool cannot_store(const Activation& activation, const Instruction& instruction, State& state);
  Value apply(const Activation& activation, const Instruction& instruction, const Operator& op,
              Operands given, State& state, std::vector<Refused>* refused = nullptr);
  Value apply_at(const Rank& rank, const Activation& activation, const Instruction& instruction,
                 const Operator& op, Operands given, const State& state,
                 std::vector<Refused>* refused = nullptr);
  Value wrap_list(const Activation& activation, const Instruction& instruction, const Value& element,
                  State& state);

 private:
  bool is_view_of_input(const Activation& activation, ValueId id, const State& state) const;
  Value outcomes(const Activation& activation, const Instruction& instruction, const Operator& op,
                 Operands given, const Rank& rank, const Value& too_many, const State& state,
                 std::vector<Refused>* refused = nullptr);

  const AnalysisOptions& options_;
  const std::string& torch_version_;
  Origins& origins_;
  SymbolSets& symbols_;
  Identities& ids_;
  Effects& effects_;
  Rounds& rounds_;
  Memory& memory_;
  Ranks& ranks_;
};

}  // namespace dtype_guard::flow
