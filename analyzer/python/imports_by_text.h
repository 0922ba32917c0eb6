// Modules that a program names in a text: importlib.import_module("natten"), a project's own
// OptionalImport("natten"), and kernels that are loaded from a hub by the name of their repository.
#pragma once

#include <string>

#include "analyzer/python/names.h"

namespace dtype_guard::python {

// The module that a call names, absolute; empty: it names none that is known.
std::string imported_by_call(const SourceFile& file, const Node& call);

}  // namespace dtype_guard::python
