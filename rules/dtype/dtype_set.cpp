#include "rules/dtype/dtype_set.h"

#include <cstddef>

namespace dtype_guard {

std::string DtypeSet::describe() const {
  std::string text;
  std::size_t left = 0;
  for (Dtype dtype : all_dtypes()) left += contains(dtype) ? 1 : 0;
  for (Dtype dtype : all_dtypes()) {
    if (!contains(dtype)) continue;
    text += name(dtype);
    --left;
    if (left == 1) text += " or ";
    if (left > 1) text += ", ";
  }
  return text;
}

}  // namespace dtype_guard
