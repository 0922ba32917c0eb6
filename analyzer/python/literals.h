// Numbers and texts as they are written out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/python/syntax.h"

namespace dtype_guard::python {

// 3, -1, 1_000; nothing in another base.
std::optional<std::int64_t> written_integer(const Node& node);
// A text into which nothing is put, not of bytes.
std::optional<std::string> written_text(const Node& node);

}  // namespace dtype_guard::python
