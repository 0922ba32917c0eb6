#include "analyzer/flow/settings/tables.h"

#include <stdexcept>
#include <string>

namespace dtype_guard::flow {

std::string_view table_text(std::string_view file) {
  for (const EmbeddedFile& each : embedded_flow_tables()) {
    if (each.name == file) return each.text;
  }
  throw std::logic_error("the table " + std::string(file) + " is not compiled in");
}

}  // namespace dtype_guard::flow
