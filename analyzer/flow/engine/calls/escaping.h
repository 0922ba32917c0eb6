// Lambdas that escape to unseen code, and calls of such code.
#pragma once

#include <optional>

#include "analyzer/flow/engine/sinks/sinks.h"
#include "analyzer/flow/roots/inputs.h"

namespace dtype_guard::flow {

class Escapes {
 public:
  Escapes(const Subject& subject, const RunningRoot& root, Names& names, Effects& effects,
          Questions& questions, Memory& memory, Sinks& sinks, Inputs& inputs, Evaluator& evaluator)
      : program_(subject.program),
        index_(subject.index),
        options_(subject.options),
        setting_(subject.setting),
        root_(root),
        symbols_(names.symbols),
        ids_(names.ids),
        effects_(effects),
        questions_(questions),
        memory_(memory),
        sinks_(sinks),
        inputs_(inputs),
        evaluator_(evaluator) {}

  void escape(const Activation& activation, const Instruction& instruction, const Value& value, Escape how,
              State& state);
  void lose(const Activation& activation, const Instruction& instruction, const Value& value, State& state);
  Value unknown_call(const Activation& activation, const Instruction& instruction, State& state);

 private:
  std::optional<State> after_escape(const Activation& activation, const Instruction& instruction,
                                    const Alternative& closure, Escape how, const State& state);
  bool may_be_handed_inputs(const Activation& activation, const Instruction& instruction,
                            const Function& lambda, Escape how, const State& state);
  bool is_bound_method(const Alternative& value, const State& state);

  const Program& program_;
  const FunctionIndex& index_;
  const AnalysisOptions& options_;
  const PrecisionSetting& setting_;
  const RunningRoot& root_;
  SymbolSets& symbols_;
  Identities& ids_;
  Effects& effects_;
  Questions& questions_;
  Memory& memory_;
  Sinks& sinks_;
  Inputs& inputs_;
  Evaluator& evaluator_;
};

}  // namespace dtype_guard::flow
