// list[-1] and list[a:b], where it is known how many elements the list has and what stands where.
#pragma once

#include "analyzer/flow/engine/activation.h"
#include "analyzer/flow/engine/memory/memory.h"

namespace dtype_guard::flow {

class ListParts {
 public:
  ListParts(Names& names, Rounds& rounds, Memory& memory)
      : symbols_(names.symbols), ids_(names.ids), rounds_(rounds), memory_(memory) {}

  // A position that may count from the end, as the cell that it means; any element where that is not known.
  static Key position(const HeapObject* list, std::int64_t index);
  // A list of its own: of what stands between the bounds, or of any element where they are not known.
  // Nothing of what is no list.
  std::optional<Value> slice(const Activation& activation, const Instruction& instruction,
                             const Alternative& list, int which, State& state);

 private:
  SymbolSets& symbols_;
  Identities& ids_;
  Rounds& rounds_;
  Memory& memory_;
};

}  // namespace dtype_guard::flow
