// What other methods than the root may have done to the root's objects: tensors that one of them leaves in
// another dtype, those that only setters give (setters.cpp), and what other code puts where a constructor
// left None or a flag (placeholders.cpp).
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/flow/roots/inputs.h"

namespace dtype_guard::flow {

class OtherMethods {
 public:
  OtherMethods(const Program& program, Names& names, Effects& effects, Memory& memory, Inputs& inputs,
               Evaluator& evaluator)
      : program_(program),
        index_(program.functions),
        symbols_(names.symbols),
        ids_(names.ids),
        effects_(effects),
        memory_(memory),
        inputs_(inputs),
        evaluator_(evaluator) {}

  void doubt_reassigned(State& state, const std::vector<Value>& arguments, std::uint32_t root,
                        ContextId context);
  void give_what_setters_do(State& state, const std::vector<Value>& arguments, std::uint32_t root,
                            ContextId context);
  void fill_placeholders(State& state, const std::vector<Value>& arguments, std::uint32_t root,
                         ContextId context);

 private:
  using Outcomes = std::map<std::pair<HeapId, std::uint32_t>, std::optional<State>>;
  std::optional<State> after_method(std::uint32_t method, HeapId object, const State& begun, ContextId root);
  // The root's objects before it runs.
  struct Beginning {
    State state;
    std::vector<HeapId> objects;
    std::uint32_t function;
    ContextId context;
  };
  const State* outcome(std::uint32_t method, HeapId object, const State& begun, ContextId root,
                       Outcomes& all);
  std::optional<Value> put_there(const std::vector<Fields::Reassigned>& by, HeapId object, const Key& key,
                                 const Beginning& begun, Outcomes& all, State& state);
  std::map<std::string_view, const Value*> fields_of(const HeapObject& object) const;
  std::vector<Alternative> held_tensors(const State& state, const Value& value);
  static void doubt(State& state, HeapId object, const Key& key);
  Value set_by(const std::vector<std::uint32_t>& setters, HeapId object, const Key& key, const State& begun,
               ContextId root);

  const Program& program_;
  const FunctionIndex& index_;
  SymbolSets& symbols_;
  Identities& ids_;
  Effects& effects_;
  Memory& memory_;
  Inputs& inputs_;
  Evaluator& evaluator_;
};

}  // namespace dtype_guard::flow
