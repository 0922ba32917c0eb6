// Operands that the call wants equal are not.
#include "analyzer/flow/queries/query.h"

namespace dtype_guard::flow {

bool fits_mixed_dtypes(const Defect& defect) {
  return !defect.differs_from.empty() && !fits_operator_mixed_dtypes(defect);
}

}  // namespace dtype_guard::flow
