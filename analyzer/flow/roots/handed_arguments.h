// What a root is handed where the program itself calls it, and it shows nowhere else: a module in a list that
// its model runs in turn is handed tables which the model has made. The module leaves open what others hand
// it; what the program does is a case that there is, and what is certain there is certain.
#pragma once

#include <vector>

#include "analyzer/flow/engine/running_root.h"

namespace dtype_guard::flow {

// Where arguments are handed over to: another run, which starts from nothing.
struct HandedInto {
  Identities& ids;
  SymbolSets& symbols;
  ContextId context;
  State& state;
};
// Puts what is known of them in place of the root's arguments, whose first is its object.
void hand_over_arguments(const HandedCall& handed, const Function& root, std::vector<Value>& arguments,
                         const HandedInto& into);

}  // namespace dtype_guard::flow
