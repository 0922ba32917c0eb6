// What the setting hands in where the code leaves it open: parameters, and objects that it fills.
#pragma once

#include <string>
#include <vector>

#include "analyzer/flow/engine/evaluator.h"
#include "analyzer/flow/engine/made_objects.h"
#include "analyzer/flow/engine/memory/memory.h"
#include "analyzer/flow/roots/made_half.h"

namespace dtype_guard::flow {

class Inputs {
 public:
  Inputs(const Subject& subject, const RunningRoot& root, Names& names, Effects& effects, MadeObjects& made,
         Memory& memory, MadeHalf& made_half, Evaluator& evaluator)
      : program_(subject.program),
        index_(subject.index),
        setting_(subject.setting),
        root_(root),
        names_(names),
        origins_(names.origins),
        symbols_(names.symbols),
        ids_(names.ids),
        effects_(effects),
        made_(made),
        memory_(memory),
        made_half_(made_half),
        evaluator_(evaluator) {}

  Value input(const Parameter& parameter, ContextId context, int position, Nature nature, State& state);
  // objects.cpp: what the root is a method of.
  Value object_of_root(const std::string& class_name, State& state);
  // One of a class that the code has asked for; unknown where none can be made.
  Value object_asked_for(const std::string& class_name, ContextId context, State& state);
  // What anyone may have done to an object that its constructor left: settable fields are open, and modules
  // are as the setting has them.
  void hand_over(State& state, const Value& object, const std::string& class_name, bool is_whole);

 private:
  Value make_object(const std::string& class_name, ContextId context, int position, Nature nature,
                    State& state);
  Value constructor_argument(const Function& constructor, std::size_t at, ContextId inner, State& state);
  MadeObject make_apart(const std::string& class_name, ContextId context, const State& begun);
  void give_fields(const std::string& class_name, HeapId id, ContextId root, Nature nature, State& state);
  void open_fields(State& state, const Value& value, std::vector<HeapId>& seen);  // settable.cpp
  void apply_setting(State& state, const Value& value, std::vector<HeapId>& seen, bool norms);

  const Program& program_;
  const FunctionIndex& index_;
  const PrecisionSetting& setting_;
  const RunningRoot& root_;
  Names& names_;
  Origins& origins_;
  SymbolSets& symbols_;
  Identities& ids_;
  Effects& effects_;
  MadeObjects& made_;
  Memory& memory_;
  MadeHalf& made_half_;
  Evaluator& evaluator_;
};

}  // namespace dtype_guard::flow
