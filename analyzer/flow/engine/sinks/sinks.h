// Calls that have a contract, and what is recorded like one: products, stores and layers among the operators,
// rotations by hand, checks of dtypes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "analyzer/flow/engine/memory/memory.h"
#include "analyzer/flow/engine/operands.h"
#include "analyzer/flow/engine/speculation.h"
#include "rules/contracts/contract.h"
#include "rules/operators/operators.h"

namespace dtype_guard::flow {

// Of a call of a module's forward, whose first argument is the module: by position or by its parameter's
// name.
const Operand* operand_of_forward(const Api& api, const Instruction& call, std::size_t position);

// What the conditions of the call exclude does not arrive.
std::vector<Alternative> arriving(std::vector<Alternative> all, const Guards& guards,
                                  const SymbolSets& symbols);

class Sinks {
 public:
  Sinks(const Subject& subject, Names& names, Effects& effects, Questions& questions, Rounds& rounds,
        Memory& memory)
      : index_(subject.index),
        bodies_(subject.program.watched_bodies),
        options_(subject.options),
        torch_version_(subject.torch_version),
        origins_(names.origins),
        symbols_(names.symbols),
        ids_(names.ids),
        effects_(effects),
        questions_(questions),
        rounds_(rounds),
        memory_(memory) {}

  // sinks.cpp
  const Api* contract_of(std::string_view name) const;  // null: none has that name
  Value sink(const Api& api, const Activation& activation, const Instruction& instruction, State& state);
  void record_module(const Api& api, const Activation& activation, const Instruction& instruction,
                     const State& state);  // of its forward
  void record_operator(const Activation& activation, const Instruction& instruction, const Operator& op,
                       const std::vector<Input>& inputs, ContextId at, const State& state);
  Value marked(const Activation& activation, const Instruction& instruction, const Operator& op,
               const std::vector<Input>& inputs, ContextId at, const Value& result);
  std::vector<SinkRecord> records() const;
  // Results keep where their operand's dtype was decided, for an editor; findings begin anew at a call.
  void keep_origins() { keeps_origins_ = true; }

  // by_hand.cpp
  void record_leaving(const Activation& activation, const Instruction& instruction, const Value& result,
                      State& state);
  void record_handed_on(const Activation& activation, const Instruction& instruction, State& state);
  void record_check(const Activation& activation, const Instruction& check, ValueId fact, bool wanted,
                    bool fails, State& state);

 private:
  bool may_take_any_dtype(const std::vector<Input>& inputs, std::string_view source) const;  // of a store
  bool is_contradicted(const State& state) const;
  const std::set<std::string>& open_roles(const Api& api, const Activation& activation,
                                          const Instruction& instruction);
  std::vector<Alternative> arrived(const Value& given, const SinkRecord& record, const State& state) const;
  SinkRecord record_of(const Api& api, const Activation& activation, const Instruction& instruction,
                       const State& state);
  void record_rotation(SinkPlace place, const Activation& activation, const Instruction& instruction,
                       const std::vector<Value>& turned, State& state);
  Value sink_result(const SinkRecord& record, const Instruction& instruction, const State& state);
  Value result_like(const std::string& role, const SinkRecord& record, const State& state);
  Value several_results(const Activation& activation, const Instruction& instruction,
                        const SinkRecord& record, State& state);

  static constexpr int kOperatorMark = 1;
  const FunctionIndex& index_;
  const WatchedBodies& bodies_;
  const AnalysisOptions& options_;
  const std::string& torch_version_;
  Origins& origins_;
  SymbolSets& symbols_;
  Identities& ids_;
  Effects& effects_;
  Questions& questions_;
  Rounds& rounds_;
  Memory& memory_;
  bool keeps_origins_ = false;
  std::map<const Instruction*, std::set<std::string>> open_roles_;  // of calls that have a contract
};

}  // namespace dtype_guard::flow
