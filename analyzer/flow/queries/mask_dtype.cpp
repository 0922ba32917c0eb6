// A mask or bias of a dtype that the call refuses.
#include "analyzer/flow/queries/query.h"
#include "rules/contracts/roles.h"

namespace dtype_guard::flow {

bool fits_mask_dtype(const Defect& defect) {
  const auto kind = role_kind(defect.arrived->role);
  return defect.breaks_contract() && (kind == RoleKind::kMask || kind == RoleKind::kSlopes);
}

}  // namespace dtype_guard::flow
