// The value was cast on its way, as the call wants it, and the result dropped.
#include "analyzer/flow/queries/query.h"

namespace dtype_guard::flow {

const Step* discarded_cast(const Defect& defect) {
  const Step* cast = defect.origins->find(defect.alternative.trail, Step::Kind::kDiscardedCast);
  if (!cast || cast->before != defect.alternative.dtype) return nullptr;
  if (defect.unsupported && !defect.record->api->accepted(defect.arrived->role).contains(cast->other)) {
    return nullptr;
  }
  // With several operands to equal, the cast would have helped with one of them.
  for (const SinkOperand* other : defect.differs_from) {
    for (const Alternative& each : other->alternatives) {
      if (each.dtype == cast->other) return cast;
    }
  }
  return defect.unsupported ? cast : nullptr;
}

bool fits_discarded_cast(const Defect& defect) { return discarded_cast(defect) != nullptr; }

}  // namespace dtype_guard::flow
