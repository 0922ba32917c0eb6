// The dtype that a value has, and casts to one.
#pragma once

#include "analyzer/flow/engine/memory/memory.h"

namespace dtype_guard::flow {

class Casts {
 public:
  Casts(Names& names, Memory& memory)
      : origins_(names.origins), symbols_(names.symbols), ids_(names.ids), memory_(memory) {}

  Value dtype_of(const Activation& activation, const Instruction& instruction, const State& state);
  Value cast(const Activation& activation, const Instruction& instruction, const State& state);

 private:
  Value fields_called_dtype(Value& given, const State& state) const;
  bool is_own_dtype(const Activation& activation, const Instruction& instruction, const State& state);

  Origins& origins_;
  SymbolSets& symbols_;
  Identities& ids_;
  Memory& memory_;
};

}  // namespace dtype_guard::flow
