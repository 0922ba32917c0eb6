// Writes a Report as JSON. Every member is always present and in the schema's order, so that reports can be
// compared as text; bytes that are no UTF-8 (file names, source text) become U+FFFD instead of making the
// report unwritable.
#include <nlohmann/json.hpp>
#include <ostream>

#include "rules/report/report.h"

namespace dtype_guard {
namespace {

using Json = nlohmann::ordered_json;

template <typename Range, typename Make>
Json array_of(const Range& range, Make make) {
  Json array = Json::array();
  for (const auto& item : range) array.push_back(make(item));
  return array;
}

template <typename Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json location_json(const SourceLocation& location) {
  return Json{{"file", location.file},
              {"line", location.line},
              {"column", location.column},
              {"end_line", location.end_line},
              {"end_column", location.end_column},
              {"function", location.function}};
}

Json frame_json(const StackFrame& frame) {
  return Json{{"language", frame.language}, {"function", frame.function}, {"file", frame.file},
              {"line", frame.line},         {"module", frame.module},     {"offset", frame.offset}};
}

Json step_json(const PathStep& step) {
  Json json = location_json(step.location);
  json["operator"] = step.op;
  json["before"] = step.before;
  json["after"] = step.after;
  json["note"] = step.note;
  json["backtrace"] = array_of(step.backtrace, frame_json);
  return json;
}

Json sink_json(const Sink& sink) {
  return Json{{"api", sink.api},
              {"role", sink.role},
              {"file", sink.location.file},
              {"line", sink.location.line},
              {"column", sink.location.column},
              {"function", sink.location.function}};
}

Json operand_json(const FindingOperand& operand) {
  return Json{{"role", operand.role},   {"dtypes", operand.dtypes}, {"accepts", operand.accepts},
              {"shape", operand.shape}, {"device", operand.device}, {"origin", or_null(operand.origin)}};
}

Json occurrence_json(const Occurrence& occurrence) {
  return Json{
      {"host", occurrence.host},     {"rank", or_null(occurrence.rank)},    {"pid", occurrence.pid},
      {"thread", occurrence.thread}, {"first_seen", occurrence.first_seen}, {"count", occurrence.count},
      {"dtypes", occurrence.dtypes}};
}

Json stack_json(const Stack& stack) {
  return Json{{"kind", stack.kind}, {"backtrace", array_of(stack.backtrace, frame_json)}};
}

Json edit_json(const Edit& edit) {
  Json json = location_json(edit.range);
  json.erase("function");
  json["replacement"] = edit.replacement;
  return json;
}

Json fix_json(const Fix& fix) {
  return Json{{"title", fix.title}, {"verified", fix.verified}, {"edits", array_of(fix.edits, edit_json)}};
}

Json suppression_json(const std::optional<Suppression>& suppression) {
  if (!suppression) return nullptr;
  return Json{{"kind", suppression->kind}, {"reason", suppression->reason}, {"line", suppression->line}};
}

Json finding_json(const Finding& finding) {
  Json json;
  json["rule"] = finding.rule;
  json["also_rules"] = finding.also_rules;
  json["level"] = name(finding.level);
  json["certainty"] = name(finding.certainty);
  json["message"] = finding.message;
  json["fingerprint"] = finding.fingerprint;
  json["observed"] = finding.observed;
  json["runtime"] = finding.runtime;
  json["location"] = location_json(finding.location);
  json["api"] = finding.api;
  json["sinks"] = array_of(finding.sinks, sink_json);
  json["operands"] = array_of(finding.operands, operand_json);
  json["path"] = array_of(finding.path, step_json);
  json["precision"] = finding.precision;
  json["torch"] = finding.torch;
  json["device"] = finding.device;
  json["stacks"] = array_of(finding.stacks, stack_json);
  json["backtrace"] = array_of(finding.backtrace, frame_json);
  json["count"] = finding.count;
  json["occurrences"] = array_of(finding.occurrences, occurrence_json);
  json["fixes"] = array_of(finding.fixes, fix_json);
  json["suppression"] = suppression_json(finding.suppression);
  json["baseline"] = finding.baseline;
  return json;
}

Json not_analysed_json(const NotAnalysed& entry) {
  return Json{
      {"file", entry.file}, {"function", entry.function}, {"reason", entry.reason}, {"detail", entry.detail}};
}

Json watched_json(const std::optional<Watched>& watched) {
  if (!watched) return nullptr;
  Json json;
  json["processes"] = array_of(watched->processes, [](const WatchedProcess& process) {
    return Json{{"pid", process.pid},
                {"command", process.command},
                {"host", process.host},
                {"complete", process.complete}};
  });
  json["libraries"] = array_of(watched->libraries, [](const WatchedLibrary& library) {
    return Json{{"name", library.name}, {"path", library.path}};
  });
  json["calls"] = Json::object();
  for (const auto& [api, calls] : watched->calls) json["calls"][api] = calls;
  json["sources"] = array_of(watched->sources, [](const WatchedSource& source) {
    return Json{{"name", source.name}, {"on", source.on}, {"why", source.why}};
  });
  return json;
}

Json summary_json(const Summary& summary) {
  return Json{{"errors", summary.errors},       {"warnings", summary.warnings},
              {"notes", summary.notes},         {"suppressed", summary.suppressed},
              {"unchanged", summary.unchanged}, {"not_analysed", summary.not_analysed},
              {"files", summary.files},         {"calls", summary.calls}};
}

}  // namespace

void write_json(std::ostream& out, const Report& report) {
  Json json;
  json["schema"] = "dtype-guard/report/1";
  json["tool"] = Json{{"name", report.tool}, {"version", report.tool_version}};
  json["root"] = report.root;
  json["findings"] = array_of(report.findings, finding_json);
  json["not_analysed"] = array_of(report.not_analysed, not_analysed_json);
  json["watched"] = watched_json(report.watched);
  json["summary"] = summary_json(summarise(report));
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace dtype_guard
