// What the rules want to know beyond dtypes: steps that a value passed through and that mean something to one
// of them.
#pragma once

#include "analyzer/flow/engine/memory/memory.h"

namespace dtype_guard::flow {

class Marks {
 public:
  Marks(Names& names, Memory& memory)
      : origins_(names.origins), symbols_(names.symbols), ids_(names.ids), memory_(memory) {}

  void discard(const Activation& activation, const Instruction& instruction, State& state);
  Value stored(const Activation& activation, const Instruction& instruction, const Value& given);
  Value typed_pointer(const Activation& activation, const Instruction& instruction, State& state);

 private:
  Origins& origins_;
  SymbolSets& symbols_;
  Identities& ids_;
  Memory& memory_;
};

}  // namespace dtype_guard::flow
