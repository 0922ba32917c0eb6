// What speaks for a path that is meant to be half, of a defect alone.
#include <algorithm>

#include "analyzer/flow/queries/query.h"

namespace dtype_guard::flow {

bool is_known(const Alternative& each) {
  return each.kind == Alternative::Kind::kTensor && each.dtype != Dtype::kUndefined;
}

bool is_contradicted_by_code(const Defect& defect) {
  const auto is_stated = [](const Alternative& each) { return is_known(each) && !each.assumed; };
  if (!is_stated(defect.alternative)) return false;
  return defect.unsupported ||
         std::any_of(defect.differs_from.begin(), defect.differs_from.end(), [&](const SinkOperand* other) {
           return std::all_of(other->alternatives.begin(), other->alternatives.end(), is_stated);
         });
}

}  // namespace dtype_guard::flow
