#include "analyzer/flow/queries/stated_dtypes.h"

#include "rules/operators/library_operators.h"

namespace dtype_guard::flow {

bool is_told_by_code(const Alternative& arrived, const SinkRecord& record) {
  return !arrived.assumed && has_own_operators(record.api->library);
}

}  // namespace dtype_guard::flow
