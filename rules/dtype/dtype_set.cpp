#include "rules/dtype/dtype_set.h"

#include "rules/text/lists.h"

namespace dtype_guard {

std::vector<std::string> DtypeSet::names() const {
  std::vector<std::string> all;
  for (Dtype dtype : all_dtypes())
    if (contains(dtype)) all.emplace_back(name(dtype));
  return all;
}

std::string DtypeSet::describe() const { return listed(names(), "or"); }

std::string DtypeSet::quoted() const { return quoted_list(names(), "or"); }

}  // namespace dtype_guard
