// Dictionaries: what stands under a key.
#pragma once

#include <optional>
#include <string>

#include "analyzer/flow/engine/questions.h"

namespace dtype_guard::flow {

class Dictionaries {
 public:
  Dictionaries(Names& names, Questions& questions)
      : symbols_(names.symbols), ids_(names.ids), questions_(questions) {}

  // Nothing where the operator is not of a dictionary.
  std::optional<Value> dictionary_operation(const Activation& activation, const Instruction& instruction,
                                            State& state);
  Value one_of_dictionary(const HeapObject& dictionary, const Value& key);
  // The field of an object that a text names, which is known where the code runs; of any field, where it has
  // none of that name.
  Key named_by(const HeapObject& object, const Value& text) const;
  Value looked_up(const HeapObject& dictionary, HeapId id, const std::string& name, const Value& otherwise);

 private:
  Value attribute(const Activation& activation, const Instruction& instruction, State& state);

  SymbolSets& symbols_;
  Identities& ids_;
  Questions& questions_;
};

}  // namespace dtype_guard::flow
