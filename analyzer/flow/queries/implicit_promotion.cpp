// An input of the call was widened without a cast. A product of attention by hand takes it, and is computed
// wide.
#include "analyzer/flow/operators/contractions.h"
#include "analyzer/flow/queries/query.h"
#include "rules/contracts/roles.h"

namespace dtype_guard::flow {

bool is_computed_wide(const Defect& defect) {
  return is_product(*defect.record->api) && defect.slow && !defect.breaks_contract();
}

bool fits_implicit_promotion(const Defect& defect) {
  const bool promoted = defect.origin && defect.origin->kind == Origin::Kind::kPromotion;
  if (!promoted || defect.record->api->kind != ApiKind::kAttention) return false;
  if (is_product(*defect.record->api)) return is_computed_wide(defect);
  return defect.breaks_contract() && role_kind(defect.arrived->role) == RoleKind::kInput;
}

}  // namespace dtype_guard::flow
