// What the table of tensor operators does not know: comparisons of dtypes and numbers, logic, arithmetic on
// numbers, and questions about a tensor.
#pragma once

#include <optional>

#include "analyzer/flow/engine/conditions/proved_ranks.h"
#include "analyzer/flow/engine/speculation.h"
#include "analyzer/flow/engine/subject.h"

namespace dtype_guard::flow {

class Scalars {
 public:
  Scalars(const Subject& subject, Names& names, Effects& effects, Questions& questions, Memory& memory,
          Ranks& ranks)
      : subject_(subject),
        origins_(names.origins),
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
  struct Asked;
  Asked look_at(const Activation& activation, const Instruction& instruction, State& state);
  Value decided_here(const Asked& asked, const Value& out);
  SymbolSetId itself(const Asked& asked);
  Value fact(Asked& asked, std::optional<bool> known);
  // Nothing where it is not asked that.
  std::optional<Value> logic(Asked& asked);
  std::optional<Value> of_tensor(Asked& asked);
  std::optional<Value> of_text_or_two_numbers(Asked& asked);
  std::optional<Value> comparison(Asked& asked);
  std::optional<Value> size_in_bytes(const Asked& asked);
  std::optional<Value> arithmetic(const Asked& asked);
  std::optional<Value> autocast_question(const Instruction& instruction, const State& state) const;

  const Subject& subject_;
  const Origins& origins_;
  SymbolSets& symbols_;
  Identities& ids_;
  Effects& effects_;
  Questions& questions_;
  Memory& memory_;
  Ranks& ranks_;
};

}  // namespace dtype_guard::flow
