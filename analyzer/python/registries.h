// Tables of a module that decorators fill: `@register("rms") class RMSNorm`, and `NORMS["rms"] = RMSNorm`
// where the module is run.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/python/names.h"

namespace dtype_guard::python {

struct RegistryEntry {
  std::string key;
  std::string name;  // of a class or function at the top level of the file
};
// What the file itself puts into the table, under keys that are written out; nothing where it fills none.
// Other files may put in more.
std::optional<std::vector<RegistryEntry>> registered(const SourceFile& file, std::string_view table);

}  // namespace dtype_guard::python
