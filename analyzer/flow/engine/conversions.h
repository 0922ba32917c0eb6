// What code does to the tensors of modules: Module::to and set_data, and the lists that Module::parameters(),
// children() and their kin give.
#pragma once

#include <string_view>

namespace dtype_guard::flow {

// Whether an operator of that name lists parts of a module.
bool lists_parts(std::string_view name);

}  // namespace dtype_guard::flow
