// pop, insert and clear of a list, and what `del list[i]` does to it: where its elements stand from then on.
#pragma once

#include <optional>

#include "analyzer/flow/engine/memory/memory.h"
#include "analyzer/flow/engine/memory/registration.h"

namespace dtype_guard::flow {

// What the call gives; nothing where it is none of these, or of no list.
std::optional<Value> list_method(const Instruction& call, State& state, Memory& memory,
                                 const Registrations& registrations, SymbolSets& symbols,
                                 const Identities& ids);

}  // namespace dtype_guard::flow
