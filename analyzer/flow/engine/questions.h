// What an undecided question is known by, and what a branch or check that was passed says: its guard.
#pragma once

#include "analyzer/flow/engine/activation.h"
#include "analyzer/flow/engine/question.h"
#include "analyzer/flow/engine/subject.h"
#include "analyzer/flow/state/guards.h"

namespace dtype_guard::flow {

class Questions {
 public:
  explicit Questions(Names& names) : symbols_(names.symbols), ids_(names.ids) {}

  SymbolSetId asked(const Activation& activation, const Instruction& instruction, const State& state);
  Guard guard(const Activation& activation, const Instruction& instruction, bool taken, const State& state);

 private:
  SymbolSetId asked_of(const Question& asked);
  Comparison comparison(const Instruction& condition, bool taken, const State& state);
  SymbolSetId decided_by(const Activation& activation, const Instruction& instruction, bool taken,
                         const State& state);

  SymbolSets& symbols_;
  Identities& ids_;
};

}  // namespace dtype_guard::flow
