#include "analyzer/flow/engine/activation.h"

#include <algorithm>

namespace dtype_guard::flow {

bool is_repeated(const Activation& activation) {
  for (const Activation* each = &activation; each; each = each->caller) {
    if (each->info.repeats[each->block]) return true;
  }
  return false;
}

bool makes_object(const Activation& activation) {
  for (const Activation* each = &activation; each; each = each->caller) {
    if (each->code.kind == FunctionKind::kConstructor) return true;
  }
  return false;
}

bool leaves_a_loop(const Activation& activation, BlockId block) {
  const std::vector<BlockId>& targets = activation.code.blocks[block].instructions.back().targets;
  return std::any_of(activation.info.loops.begin(), activation.info.loops.end(),
                     [&](const FunctionInfo::Loop& loop) {
                       return std::any_of(targets.begin(), targets.end(),
                                          [&](BlockId to) { return loop.is_left_by(block, to); });
                     });
}

}  // namespace dtype_guard::flow
