// The call takes the dtype that a promotion brought, and runs without its fast kernels.
#include "analyzer/flow/queries/query.h"

namespace dtype_guard::flow {

bool fits_silent_fallback(const Defect& defect) { return defect.slow && !defect.breaks_contract(); }

}  // namespace dtype_guard::flow
