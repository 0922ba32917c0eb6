// Under autocast an operator returned float32, and its result reaches a call that autocast does not cover.
#include "analyzer/flow/queries/query.h"

namespace dtype_guard::flow {

bool fits_autocast_fp32_operator(const Defect& defect) {
  return defect.breaks_contract() && defect.origin && defect.origin->kind == Origin::Kind::kPromotion &&
         defect.origin->by_autocast;
}

}  // namespace dtype_guard::flow
