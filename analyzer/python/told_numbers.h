// Numbers that code says: parameters with such an annotation, fields of a configuration whose class annotates
// them, or gives them a number by default (`config.multiplier`, where the parameter `config` is annotated
// with a class in sight that has `multiplier: float = 1.0`), and fields of self that the constructor keeps of
// these.
#pragma once

#include <string>

#include "analyzer/python/modules.h"

namespace dtype_guard::python {

// "int" or "float" of a name or an attribute; empty where nothing says that it is a number, or that it is one
// or None.
std::string told_number(const Node& name, const FunctionDefinition& function, const Modules& modules);

}  // namespace dtype_guard::python
