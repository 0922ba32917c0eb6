// The cache and what is written to it or read with it differ.
#include "analyzer/flow/queries/query.h"
#include "rules/contracts/roles.h"

namespace dtype_guard::flow {

bool fits_kv_cache_mismatch(const Defect& defect) {
  if (defect.record->place == SinkPlace::kOtherStore) return false;
  return defect.breaks_contract() && (role_kind(defect.arrived->role) == RoleKind::kCache ||
                                      defect.record->api->kind == ApiKind::kKvCache);
}

}  // namespace dtype_guard::flow
