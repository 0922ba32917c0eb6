// What the setting hands in where the code leaves it open: parameters, and objects that it fills.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/flow/engine/evaluator.h"
#include "analyzer/flow/engine/memory/memory.h"
#include "analyzer/flow/engine/running_root.h"
#include "analyzer/flow/roots/made_half.h"

namespace dtype_guard::flow {

class Inputs {
 public:
  Inputs(const Subject& subject, RunningRoot& root, Names& names, Effects& effects, Memory& memory,
         MadeHalf& made_half, Evaluator& evaluator)
      : program_(subject.program),
        index_(subject.index),
        setting_(subject.setting),
        root_(root),
        names_(names),
        origins_(names.origins),
        symbols_(names.symbols),
        ids_(names.ids),
        effects_(effects),
        memory_(memory),
        made_half_(made_half),
        evaluator_(evaluator) {}

  Value input(const Parameter& parameter, ContextId context, int position, Nature nature, State& state);
  // What the root is a method of.
  Value object_of_root(const std::string& class_name, State& state);
  // What the program makes, beside all else that the state has.
  Value object_handed_over(const Witness& witness, State& state);
  // One of a class that the code has asked for; unknown where none can be made.
  Value object_asked_for(const std::string& class_name, ContextId context, State& state);
  // What anyone may have done to an object that its constructor left: settable fields are open, and modules
  // are as the setting has them. handing_over.cpp.
  void hand_over(State& state, const Value& object, const std::string& class_name, bool is_whole);

  // Steps of making objects and of other evaluations beside the last root.
  void begin_steps() { steps_ = 0; }
  void add_steps(std::size_t steps) { steps_ += steps; }
  std::size_t steps() const { return steps_; }

 private:
  Value make_object(const std::string& class_name, ContextId context, int position, Nature nature,
                    State& state);
  void construct(const std::vector<std::uint32_t>& constructors, const Value& object, ContextId root,
                 State& state);
  Value constructor_argument(const Function& constructor, std::size_t at, ContextId inner, State& state);
  MadeObject make_apart(const std::string& class_name, ContextId context, const State& begun);
  void give_fields(const std::string& class_name, HeapId id, ContextId root, Nature nature, State& state);
  void open_fields(State& state, const Value& value, std::vector<HeapId>& seen);
  void apply_setting(State& state, const Value& value, std::vector<HeapId>& seen, bool half_buffers);

  const Program& program_;
  const FunctionIndex& index_;
  const PrecisionSetting& setting_;
  RunningRoot& root_;
  Names& names_;
  Origins& origins_;
  SymbolSets& symbols_;
  Identities& ids_;
  Effects& effects_;
  Memory& memory_;
  MadeHalf& made_half_;
  Evaluator& evaluator_;
  // By class, source file, and whether constructors are called with what their parameters have by default.
  std::map<std::tuple<std::string, std::uint32_t, bool>, MadeObject> objects_;
  std::size_t steps_ = 0;
};

}  // namespace dtype_guard::flow
