// Signatures as they are written: names of parameters, and annotations taken apart.
#pragma once

#include <string>
#include <vector>

#include "analyzer/python/syntax.h"

namespace dtype_guard::python {

// The name of a parameter; of `*name` and `**name` the pattern, whose first child is the name.
Node written_name(const Node& parameter);
// The alternatives of `int | None`, `Optional[int]` and `Union[int, None]`, without spaces and quotes. What
// is optional has "None" among them.
std::vector<std::string> parts_of_type(const Node& type);

}  // namespace dtype_guard::python
