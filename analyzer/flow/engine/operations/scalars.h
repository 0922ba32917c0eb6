// What the table of tensor operators does not know: comparisons of dtypes and numbers, logic, arithmetic on
// numbers, and questions about a tensor.
#pragma once

#include <optional>
#include <string>

#include "analyzer/flow/engine/conditions/proved_ranks.h"
#include "analyzer/flow/engine/speculation.h"

namespace dtype_guard::flow {

class Scalars {
 public:
  Scalars(const std::string& device, Names& names, Effects& effects, Questions& questions, Memory& memory,
          Ranks& ranks)
      : device_(device),
        symbols_(names.symbols),
        ids_(names.ids),
        effects_(effects),
        questions_(questions),
        memory_(memory),
        ranks_(ranks) {}

  // Nothing when the name is none of these.
  std::optional<Value> scalar_operation(const Activation& activation, const Instruction& instruction,
                                        State& state);

 private:
  std::optional<Value> autocast_question(const Instruction& instruction, const State& state) const;

  const std::string& device_;  // that the analysis is for
  SymbolSets& symbols_;
  Identities& ids_;
  Effects& effects_;
  Questions& questions_;
  Memory& memory_;
  Ranks& ranks_;
};

}  // namespace dtype_guard::flow
