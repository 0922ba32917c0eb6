#include "analyzer/flow/program/units_with_main.h"

#include <algorithm>

#include "analyzer/flow/ir/module_code.h"
#include "analyzer/flow/program/function_info.h"

namespace dtype_guard::flow {

UnitsWithMain::UnitsWithMain(const Module& module) {
  for (const Function& each : module.functions) {
    if (!each.is_main || is_module_code(each)) continue;  // others may import that file
    units_.insert(units_of(each).begin(), units_of(each).end());
    main_files_.insert(each.range.file);
  }
}

bool UnitsWithMain::is_open(const Function& function) const {
  const std::vector<std::uint32_t>& units = units_of(function);
  return std::any_of(units.begin(), units.end(), [&](std::uint32_t unit) { return !units_.contains(unit); });
}

}  // namespace dtype_guard::flow
