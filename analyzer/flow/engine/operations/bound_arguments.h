// Arguments in the order of a callee's parameters.
#pragma once

#include <vector>

#include "analyzer/flow/engine/operations/dictionaries.h"
#include "analyzer/flow/engine/speculation.h"
#include "analyzer/flow/engine/subject.h"

namespace dtype_guard::flow {

class BoundArguments {
 public:
  BoundArguments(const Subject& subject, Names& names, Effects& effects, Dictionaries& dictionaries)
      : index_(subject.index),
        setting_(subject.setting),
        ids_(names.ids),
        effects_(effects),
        dictionaries_(dictionaries) {}

  std::vector<Value> bound(const Function& callee, const Instruction& instruction, ContextId context,
                           std::vector<Value> handed, State& state);
  // The same of a call that stands nowhere in the text: an object and what its method is handed by position.
  std::vector<Value> bound_by_position(const Function& callee, ContextId context, std::vector<Value> handed,
                                       State& state);

 private:
  struct Spread;
  std::vector<Value> in_order(const Function& callee, ContextId context, Value self, Spread left,
                              State& state);
  Spread spread(const Instruction& instruction, const std::vector<Value>& handed, const State& state);
  Value as_input(const Parameter& parameter, const Value& looked_up) const;
  Value rest_of(const Parameter& parameter, ContextId context, const Spread& handed, State& state);

  const FunctionIndex& index_;
  const PrecisionSetting& setting_;
  Identities& ids_;
  Effects& effects_;
  Dictionaries& dictionaries_;
};

}  // namespace dtype_guard::flow
