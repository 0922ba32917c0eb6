// A tensor that a module keeps in a plain member stayed wide when the module was converted.
#include "analyzer/flow/queries/query.h"

namespace dtype_guard::flow {

const Step* plain_member(const Defect& defect) {
  if (!defect.module_is_half || is_half(defect.alternative.dtype)) return nullptr;
  if (const Step* kept = defect.origins->find(defect.alternative.trail, Step::Kind::kPlainMember))
    return kept;
  const Origin* origin = defect.origin;
  if (!origin || origin->kind != Origin::Kind::kPromotion || origin->by_autocast) return nullptr;
  return defect.origins->find(origin->wide, Step::Kind::kPlainMember);
}

bool fits_unregistered_buffer(const Defect& defect) { return plain_member(defect) != nullptr; }

}  // namespace dtype_guard::flow
