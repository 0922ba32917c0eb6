#include "rules/data/embedded.h"
#include "rules/report/report.h"

namespace dtype_guard {

std::string_view report_schema() {
  for (const EmbeddedFile& file : embedded_schemas()) {
    if (file.name == "report.schema.json") return file.text;
  }
  return {};
}

}  // namespace dtype_guard
