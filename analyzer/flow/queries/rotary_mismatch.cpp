// x and its cos and sin tables break the rotary API's own rule.
#include "analyzer/flow/queries/query.h"

namespace dtype_guard::flow {

bool fits_rotary_mismatch(const Defect& defect) {
  return defect.breaks_contract() && defect.record->api->kind == ApiKind::kRotary;
}

}  // namespace dtype_guard::flow
