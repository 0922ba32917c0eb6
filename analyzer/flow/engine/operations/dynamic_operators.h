// Operators whose meaning hangs on what arrives, as it does in a language without static types.
#pragma once

#include <map>
#include <optional>

#include "analyzer/flow/engine/conditions/proved_ranks.h"
#include "analyzer/flow/engine/evaluator.h"
#include "analyzer/flow/engine/memory/conversions.h"
#include "analyzer/flow/engine/memory/registration.h"
#include "analyzer/flow/engine/operations/dictionaries.h"
#include "analyzer/flow/engine/operations/list_parts.h"

namespace dtype_guard::flow {

class DynamicOperators {
 public:
  DynamicOperators(Names& names, Rounds& rounds, Memory& memory, Ranks& ranks, Dictionaries& dictionaries,
                   Conversions& conversions, const Registrations& registrations, Evaluator& evaluator)
      : symbols_(names.symbols),
        ids_(names.ids),
        memory_(memory),
        ranks_(ranks),
        dictionaries_(dictionaries),
        conversions_(conversions),
        registrations_(registrations),
        evaluator_(evaluator),
        list_parts_(names, rounds, memory) {}

  // Nothing where it is none of these.
  std::optional<Value> dynamic_operation(const Activation& activation, const Instruction& instruction,
                                         State& state);

 private:
  Key element_key(const Activation& activation, const Instruction& instruction, const State& state,
                  const HeapObject* list = nullptr);
  // Of a dictionary, where the key is not constant but has a name: what was stored by that name is there.
  Key named_key(const Activation& activation, const Instruction& instruction, const State& state);
  bool are_places(const Argument& index, const State& state);
  bool is_as_deep(const Value& stored, const Value& whole, const State& state);
  Value part_of(const Activation& activation, const Instruction& instruction, State& state);
  void register_layers(HeapId list, const Value& given, State& state);
  void store_element(const Activation& activation, const Instruction& instruction, State& state);
  void store_at_places(const Activation& activation, const Instruction& instruction, State& state);
  void may_hold(const Activation& activation, const Instruction& instruction, State& state);
  std::optional<Value> put_all_in(const Instruction& instruction, State& state);
  Value augmented(const Activation& activation, const Instruction& instruction, State& state);
  Value own_parameter(const Activation& activation, const Instruction& instruction, State& state);

  SymbolSets& symbols_;
  Identities& ids_;
  Memory& memory_;
  Ranks& ranks_;
  Dictionaries& dictionaries_;
  Conversions& conversions_;
  const Registrations& registrations_;
  Evaluator& evaluator_;
  ListParts list_parts_;
  std::map<const Instruction*, Instruction> renamed_;  // what they are for what arrives
};

}  // namespace dtype_guard::flow
