// The call takes the dtype that a promotion brought, and runs without its fast kernels.
#include "analyzer/flow/queries/query.h"

namespace dtype_guard::flow {

// A product by hand has no other kernel to fall back to.
bool fits_silent_fallback(const Defect& defect) {
  return defect.slow && !defect.breaks_contract() && !is_computed_wide(defect);
}

}  // namespace dtype_guard::flow
