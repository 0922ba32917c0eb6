// A descriptor, or the type that an untyped pointer was cast to, contradicts the data.
#include "analyzer/flow/queries/query.h"

namespace dtype_guard::flow {

const Step* wrong_description(const Defect& defect) {
  const Step* step = defect.origins->find(defect.alternative.trail, Step::Kind::kDescribed);
  return step && step->other != Dtype::kUndefined && step->after == defect.alternative.dtype ? step : nullptr;
}

bool fits_dlpack_mismatch(const Defect& defect) { return wrong_description(defect) != nullptr; }

}  // namespace dtype_guard::flow
