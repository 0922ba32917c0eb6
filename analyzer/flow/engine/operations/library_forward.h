// forward() of library modules: an operator on the input and the module's parameters, and Sequential, which
// hands what one of its modules gives to the next.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/flow/engine/conditions/conditions.h"
#include "analyzer/flow/engine/evaluator.h"
#include "analyzer/flow/engine/operations/bound_arguments.h"
#include "analyzer/flow/engine/operations/operators.h"
#include "analyzer/flow/engine/running_root.h"
#include "analyzer/flow/engine/sinks/sinks.h"
#include "analyzer/flow/settings/module_types.h"

namespace dtype_guard::flow {

class LibraryModules {
 public:
  LibraryModules(const Subject& subject, const RunningRoot& root, Names& names, Effects& effects,
                 Questions& questions, Rounds& rounds, Memory& memory, Sinks& sinks, Operators& operators,
                 Conditions& conditions, Dictionaries& dictionaries, Evaluator& evaluator)
      : program_(subject.program),
        index_(subject.index),
        setting_(subject.setting),
        root_(root),
        symbols_(names.symbols),
        ids_(names.ids),
        questions_(questions),
        rounds_(rounds),
        memory_(memory),
        sinks_(sinks),
        operators_(operators),
        conditions_(conditions),
        bound_(subject, names, effects, dictionaries),
        evaluator_(evaluator) {}

  // Nothing where the module is not known.
  std::optional<Value> library_forward(const Activation& activation, const Instruction& instruction,
                                       State& state);
  std::optional<Value> library_module_call(const Activation& activation, const Instruction& instruction,
                                           const Alternative& module, State& state);

 private:
  std::optional<Value> forward_through(const Activation& activation, const Instruction& instruction,
                                       const Value& module, const Value& input, ContextId inner, State& state,
                                       int depth);
  std::optional<Value> forward_through_any(const Activation& activation, const Instruction& instruction,
                                           const Value& modules, const Value& input, ContextId inner,
                                           State& state, int depth);
  std::vector<std::uint32_t> forwards_of(const std::string& type) const;
  Value module_forward(const Activation& activation, const Instruction& instruction, const ModuleType& type,
                       const std::vector<Value>& given, ContextId at, State& state);
  Value module_results(const Activation& activation, const Instruction& instruction, const ModuleType& type,
                       const ModuleType::Result& wanted, const std::vector<Value>& given, int& packs,
                       ContextId at, State& state);
  Value module_result(const Activation& activation, const Instruction& instruction, const ModuleType& type,
                      int number, const std::vector<Value>& given, ContextId at, State& state);
  std::vector<Input> module_inputs(const Instruction& instruction, std::string_view source,
                                   const std::vector<Value>& given, const State& state);
  std::vector<Alternative> module_parameter(const ModuleType& type, const std::string& name,
                                            const std::vector<Value>& given, const State& state);

  const Program& program_;
  const FunctionIndex& index_;
  const PrecisionSetting& setting_;
  const RunningRoot& root_;
  SymbolSets& symbols_;
  Identities& ids_;
  Questions& questions_;
  Rounds& rounds_;
  Memory& memory_;
  Sinks& sinks_;
  Operators& operators_;
  Conditions& conditions_;
  BoundArguments bound_;
  Evaluator& evaluator_;
};

}  // namespace dtype_guard::flow
