// Which class of the project an annotation says that a field of self holds: `self.norm: RMSNorm | None =
// None`, or `norm: RMSNorm` in its class.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/python/modules.h"

namespace dtype_guard::python {

// Its qualified name; empty where no annotation of the class says one, or two say different ones.
std::string told_class(std::string_view field, const ClassDefinition& of, const Modules& modules);

}  // namespace dtype_guard::python
