// The code of a module outside its functions and classes: statements that are run when it is, in their order.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "analyzer/python/names.h"

namespace dtype_guard::python {

// Variables of a module's code, where that is lowered.
struct ModuleNames {
  std::set<std::string, std::less<>> seen;      // functions and classes of the file name them
  std::set<std::string, std::less<>> declared;  // by `global` in a function
};

// Whether what stands in it is run later, or in a scope of its own.
bool is_definition(const Node& node);

// Null where it calls nothing, or could not be read as a whole.
std::unique_ptr<FunctionDefinition> module_code(const SourceFile& file);

}  // namespace dtype_guard::python
