// Calls: which functions run, with which arguments, and what comes of it.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "analyzer/flow/engine/calls/escaping.h"
#include "analyzer/flow/engine/followed_calls.h"
#include "analyzer/flow/engine/memory/registration.h"
#include "analyzer/flow/engine/operations/bound_arguments.h"
#include "analyzer/flow/engine/operations/library_forward.h"

namespace dtype_guard::flow {

class Calls {
 public:
  Calls(const Subject& subject, const RunningRoot& root, Names& names, Effects& effects, Questions& questions,
        Memory& memory, Registrations& registrations, Inputs& inputs, Escapes& escapes,
        LibraryModules& modules, Dictionaries& dictionaries, Evaluator& evaluator)
      : program_(subject.program),
        index_(subject.index),
        options_(subject.options),
        setting_(subject.setting),
        root_(root),
        origins_(names.origins),
        symbols_(names.symbols),
        ids_(names.ids),
        effects_(effects),
        questions_(questions),
        memory_(memory),
        registrations_(registrations),
        inputs_(inputs),
        escapes_(escapes),
        modules_(modules),
        bound_(subject, names, effects, dictionaries),
        evaluator_(evaluator) {}

  // False when none of what is called returns.
  bool call_instruction(Activation& activation, const Instruction& instruction, State& state);
  const FollowedCalls& followed() const { return calls_; }

 private:
  using Receivers = std::map<std::uint32_t, std::vector<Alternative>>;  // for which each function runs
  // What may run. No function where that is not known, or where library modules give all there is.
  struct Callees {
    std::optional<VirtualCall> virtually;  // of an object
    bool by_attribute = false;
    bool unknown = false;     // by an attribute, and a receiver may run anything
    bool or_unknown = false;  // these functions, or what is not known
    std::vector<std::uint32_t> functions;
    Receivers receivers;
    Value given;  // by library modules among the receivers

    bool is_given() const { return functions.empty() && by_attribute && !unknown; }
  };
  Callees callees_of(const Activation& activation, const Instruction& instruction, State& state);
  std::vector<Value> arguments_of(const Activation& activation, const Instruction& instruction,
                                  const Callees& callees, const State& state);
  std::optional<Value> result_of(std::uint32_t function, const Activation& activation,
                                 const Instruction& instruction, const Callees& callees,
                                 const std::vector<Value>& arguments, State& state);
  std::vector<std::uint32_t> dispatch(const Instruction& instruction, const VirtualCall& call,
                                      const State& state, Receivers& receivers) const;
  Callees callees_by_attribute(const Activation& activation, const Instruction& instruction,
                               State& state);  // attribute_calls.cpp
  bool give_from_setting(const Function& callee, ContextId context, std::vector<Value>& arguments,
                         State& state);
  Value as_if_unknown(const Value& result) const;
  Value given_by_all_overrides(const Activation& activation, const Instruction& instruction,
                               const VirtualCall& call, const State& state);  // overrides.cpp

  const Program& program_;
  const FunctionIndex& index_;
  const AnalysisOptions& options_;
  const PrecisionSetting& setting_;
  const RunningRoot& root_;
  Origins& origins_;
  SymbolSets& symbols_;
  Identities& ids_;
  Effects& effects_;
  Questions& questions_;
  Memory& memory_;
  Registrations& registrations_;
  Inputs& inputs_;
  Escapes& escapes_;
  LibraryModules& modules_;
  BoundArguments bound_;
  Evaluator& evaluator_;
  FollowedCalls calls_;
};

}  // namespace dtype_guard::flow
