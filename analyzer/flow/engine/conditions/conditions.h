// What a condition proves where it has a truth, what it puts in doubt, and what a check states of an input.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "analyzer/flow/engine/conditions/proved_ranks.h"
#include "analyzer/flow/engine/evaluator.h"
#include "analyzer/flow/engine/memory/memory.h"
#include "analyzer/flow/engine/operands.h"
#include "analyzer/flow/engine/speculation.h"

namespace dtype_guard::flow {

// joined_tests.cpp: of a test that joins several, the instruction whose arguments these are; null: it is
// none.
const Instruction* joined_tests(const Instruction& test, const FunctionInfo& info);
bool joins_all(std::string_view name);

class Conditions {
 public:
  Conditions(const Program& program, Names& names, Effects& effects, Memory& memory, Evaluator& evaluator)
      : program_(program),
        index_(program.functions),
        symbols_(names.symbols),
        ids_(names.ids),
        effects_(effects),
        memory_(memory),
        evaluator_(evaluator) {}

  // refine.cpp: false when the condition cannot have that truth.
  bool refine(const Activation& activation, State& state, ValueId condition, bool truth, int depth = 0);
  // stated_inputs.cpp: true when the condition has that truth once inputs are what it says they are.
  bool state_by_check(const Activation& activation, State& state, ValueId condition, bool wanted,
                      int depth = 0);
  // Behind a check that compares a text with what may be anything, that is the text, wherever it is kept.
  void keep_text(const Activation& activation, State& state, ValueId condition, bool wanted, int depth = 0);
  // What the operator throws for does not come to what is behind it.
  void pass_without(const Activation& activation, State& state, const std::vector<Refused>& refused);

 private:
  bool refine_any(const Activation& activation, State& state, const Instruction& either, bool wanted,
                  int depth);
  bool refine_comparison(const Activation& activation, State& state, const Instruction& comparison,
                         bool equal);
  bool refine_truth(const Activation& activation, State& state, const Instruction& comparison, bool equal,
                    int depth);
  bool refine_class(const Activation& activation, State& state, const Instruction& test, bool wanted);
  bool is_dtype_still(const State& state, ValueId source, const Value& asked) const;
  bool restrict_dtypes(const Activation& activation, State& state, ValueId value,
                       const std::vector<Dtype>& dtypes, bool keep, int depth = 0);
  void doubt(const Activation& activation, State& state, ValueId condition, int depth);
  void doubt_counted(const Activation& activation, State& state, const Instruction& number);
  void doubt_lists(const Activation& activation, State& state, ValueId condition, int depth) const;
  bool narrow(State& state, const Value& before, const Value& after);  // in every place, of an input also
  using StatePart = std::function<bool(State& state, const Argument& part)>;
  bool state_one_of(State& state, const std::vector<Argument>& parts, const StatePart& state_part);
  bool state_input(const Activation& activation, State& state, ValueId asked, ValueId told);

  const Program& program_;
  const FunctionIndex& index_;
  SymbolSets& symbols_;
  const Identities& ids_;
  Effects& effects_;
  Memory& memory_;
  Evaluator& evaluator_;
};

}  // namespace dtype_guard::flow
