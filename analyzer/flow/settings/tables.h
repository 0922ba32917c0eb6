// The engine's data as text: the JSON files of this folder, embedded at build time.
#pragma once

#include <span>
#include <string_view>

#include "rules/data/embedded.h"

namespace dtype_guard {
std::span<const EmbeddedFile> embedded_flow_tables();
}  // namespace dtype_guard

namespace dtype_guard::flow {

// Throws std::logic_error for a file that is not embedded.
std::string_view table_text(std::string_view file);

}  // namespace dtype_guard::flow
