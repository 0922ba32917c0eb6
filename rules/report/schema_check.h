// A JSON value held against one of this folder's schemas: whatever the schema refuses is an error that names
// line, JSON pointer, what was found and what was expected. Knows the keywords that these schemas use and no
// others, so that a schema which says more than is checked is noticed.
#pragma once

#include <string>
#include <string_view>

#include "rules/data/located_json.h"

namespace dtype_guard {

// Throws ReportError; `file` names the source of `value` in its message. `schema` is a file of this folder:
// "report.schema.json".
void check_schema(const JsonNode& value, std::string_view schema, const std::string& file);

}  // namespace dtype_guard
