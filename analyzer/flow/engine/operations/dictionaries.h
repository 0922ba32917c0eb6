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
  Value looked_up(const HeapObject& dictionary, HeapId id, const std::string& name, const Value& otherwise);

 private:
  SymbolSets& symbols_;
  Identities& ids_;
  Questions& questions_;
};

}  // namespace dtype_guard::flow
