// Operators on what belongs to a module or a class rather than to a call: a module's variables, the
// attributes of classes; and contexts that are entered unseen.
#pragma once

#include <optional>

#include "analyzer/flow/engine/activation.h"
#include "analyzer/flow/engine/running_root.h"
#include "analyzer/flow/engine/subject.h"
#include "analyzer/flow/state/state.h"

namespace dtype_guard::flow {

// Nothing where it is none of these.
std::optional<Value> module_operation(const Activation& activation, const Instruction& instruction,
                                      const Program& program, const RunningRoot& root, Identities& ids,
                                      State& state);

}  // namespace dtype_guard::flow
