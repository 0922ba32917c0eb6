// A value that nobody asked to be widened is an input of the call.
#include "analyzer/flow/queries/query.h"
#include "rules/contracts/roles.h"

namespace dtype_guard::flow {

bool fits_implicit_promotion(const Defect& defect) {
  return defect.breaks_contract() && defect.origin && defect.origin->kind == Origin::Kind::kPromotion &&
         defect.record->api->kind == ApiKind::kAttention &&
         role_kind(defect.arrived->role) == RoleKind::kInput;
}

}  // namespace dtype_guard::flow
