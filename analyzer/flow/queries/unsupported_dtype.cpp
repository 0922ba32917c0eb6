// The call does not take this dtype at all.
#include "analyzer/flow/queries/query.h"

namespace dtype_guard::flow {

bool fits_unsupported_dtype(const Defect& defect) { return defect.unsupported; }

}  // namespace dtype_guard::flow
