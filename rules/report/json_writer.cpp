// Writes a Report as JSON, members in the schema's order (fields.h).
#include <ostream>

#include "rules/report/field_writer.h"

namespace dtype_guard {

void write_json(std::ostream& out, const Report& report) {
  {
    JsonStream json(out);
    FieldWriter put(json);
    json.begin_object();
    json.member("schema", "dtype-guard/report/1");
    json.key("tool").begin_object();
    json.member("name", report.tool);
    json.member("version", report.tool_version);
    json.end_object();
    put("root", report.root);
    put("findings", report.findings);
    put("not_analysed", report.not_analysed);
    put("calls", report.calls);
    put("unseen_calls", report.unseen);
    put("files", sight_by_file(report));
    put("watched", report.watched);
    put("summary", summarise(report));
    json.end_object();
  }
  out << '\n';
}

}  // namespace dtype_guard
