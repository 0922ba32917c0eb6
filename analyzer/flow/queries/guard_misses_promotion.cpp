// A check of a dtype was passed by the value from before its promotion; the promoted one would have failed.
#include <algorithm>

#include "analyzer/flow/queries/lineage.h"
#include "analyzer/flow/queries/query.h"

namespace dtype_guard::flow {

const PassedTest* missed_by_test(const Defect& defect) {
  const Origin* origin = defect.origin;
  if (!origin || origin->kind != Origin::Kind::kPromotion || !is_half(origin->before) ||
      defect.record->tests.empty())
    return nullptr;
  const PassedTest* found = nullptr;
  const Lineage lineage(*defect.index);
  for (const PassedTest& each : defect.record->tests) {
    const bool would_fail =
        each.passes.contains(origin->before) && !each.passes.contains(defect.alternative.dtype);
    if (!would_fail || !lineage.derives(origin->function, *origin->instruction, each.function, each.tested)) {
      continue;
    }
    const auto place = [](const PassedTest& test) {
      return std::tuple(test.where->range.file, test.where->range.line, test.where->range.column);
    };
    if (!found || place(*found) < place(each)) found = &each;  // the last one before the call
  }
  return found;
}

bool fits_guard_misses_promotion(const Defect& defect) { return missed_by_test(defect) != nullptr; }

}  // namespace dtype_guard::flow
