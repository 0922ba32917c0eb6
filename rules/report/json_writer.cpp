// Writes a Report as JSON. Every member is always present and in the schema's order, so that reports can be
// compared as text.
#include <ostream>

#include "rules/report/json_stream.h"
#include "rules/report/report.h"

namespace dtype_guard {
namespace {

class ReportWriter {
 public:
  explicit ReportWriter(std::ostream& out) : json_(out) {}

  void write(const Report& report) {
    json_.begin_object();
    json_.member("schema", "dtype-guard/report/1");
    json_.key("tool").begin_object();
    json_.member("name", report.tool);
    json_.member("version", report.tool_version);
    json_.end_object();
    json_.member("root", report.root);
    list("findings", report.findings, &ReportWriter::finding);
    list("not_analysed", report.not_analysed, &ReportWriter::not_analysed);
    optional("watched", report.watched, &ReportWriter::watched);
    json_.key("summary");
    summary(summarise(report));
    json_.end_object();
  }

 private:
  template <typename Item>
  void list(std::string_view key, const std::vector<Item>& items, void (ReportWriter::*put)(const Item&)) {
    json_.key(key).begin_array();
    for (const Item& item : items) (this->*put)(item);
    json_.end_array();
  }

  template <typename Value>
  void optional(std::string_view key, const std::optional<Value>& value,
                void (ReportWriter::*put)(const Value&)) {
    json_.key(key);
    if (value) {
      (this->*put)(*value);
    } else {
      json_.null();
    }
  }

  template <typename Number>
  void number_or_null(std::string_view key, const std::optional<Number>& number) {
    json_.key(key);
    if (number) {
      json_.value(*number);
    } else {
      json_.null();
    }
  }

  void range(const SourceLocation& location) {
    json_.member("file", location.file);
    json_.member("line", location.line);
    json_.member("column", location.column);
    json_.member("end_line", location.end_line);
    json_.member("end_column", location.end_column);
  }

  void location(const SourceLocation& location) {
    range(location);
    json_.member("function", location.function);
  }

  void frame(const StackFrame& frame) {
    json_.begin_object();
    json_.member("language", frame.language);
    json_.member("function", frame.function);
    json_.member("file", frame.file);
    json_.member("line", frame.line);
    json_.member("module", frame.module);
    json_.member("offset", frame.offset);
    json_.end_object();
  }

  void step(const PathStep& step) {
    json_.begin_object();
    location(step.location);
    json_.member("operator", step.op);
    json_.member("before", step.before);
    json_.member("after", step.after);
    json_.member("note", step.note);
    list("backtrace", step.backtrace, &ReportWriter::frame);
    json_.end_object();
  }

  void sink(const Sink& sink) {
    json_.begin_object();
    json_.member("api", sink.api);
    json_.member("role", sink.role);
    json_.member("file", sink.location.file);
    json_.member("line", sink.location.line);
    json_.member("column", sink.location.column);
    json_.member("function", sink.location.function);
    json_.end_object();
  }

  void operand(const FindingOperand& operand) {
    json_.begin_object();
    json_.member("role", operand.role);
    json_.member("dtypes", operand.dtypes);
    json_.member("accepts", operand.accepts);
    json_.member("shape", operand.shape);
    json_.member("device", operand.device);
    number_or_null("origin", operand.origin);
    json_.end_object();
  }

  void occurrence(const Occurrence& occurrence) {
    json_.begin_object();
    json_.member("host", occurrence.host);
    number_or_null("rank", occurrence.rank);
    json_.member("pid", occurrence.pid);
    json_.member("thread", occurrence.thread);
    json_.member("first_seen", occurrence.first_seen);
    json_.member("count", occurrence.count);
    json_.member("dtypes", occurrence.dtypes);
    json_.end_object();
  }

  void stack(const Stack& stack) {
    json_.begin_object();
    json_.member("kind", stack.kind);
    list("backtrace", stack.backtrace, &ReportWriter::frame);
    json_.end_object();
  }

  void edit(const Edit& edit) {
    json_.begin_object();
    range(edit.range);
    json_.member("replacement", edit.replacement);
    json_.end_object();
  }

  void fix(const Fix& fix) {
    json_.begin_object();
    json_.member("title", fix.title);
    json_.member("verified", fix.verified);
    list("edits", fix.edits, &ReportWriter::edit);
    json_.end_object();
  }

  void suppression(const Suppression& suppression) {
    json_.begin_object();
    json_.member("kind", suppression.kind);
    json_.member("reason", suppression.reason);
    json_.member("line", suppression.line);
    json_.end_object();
  }

  void finding(const Finding& finding) {
    json_.begin_object();
    json_.member("rule", finding.rule);
    json_.member("also_rules", finding.also_rules);
    json_.member("level", name(finding.level));
    json_.member("certainty", name(finding.certainty));
    json_.member("message", finding.message);
    json_.member("fingerprint", finding.fingerprint);
    json_.member("observed", finding.observed);
    json_.member("runtime", finding.runtime);
    json_.key("location").begin_object();
    location(finding.location);
    json_.end_object();
    json_.member("api", finding.api);
    list("sinks", finding.sinks, &ReportWriter::sink);
    list("operands", finding.operands, &ReportWriter::operand);
    list("path", finding.path, &ReportWriter::step);
    json_.member("precision", finding.precision);
    json_.member("torch", finding.torch);
    json_.member("device", finding.device);
    list("stacks", finding.stacks, &ReportWriter::stack);
    list("backtrace", finding.backtrace, &ReportWriter::frame);
    json_.member("count", finding.count);
    list("occurrences", finding.occurrences, &ReportWriter::occurrence);
    list("fixes", finding.fixes, &ReportWriter::fix);
    optional("suppression", finding.suppression, &ReportWriter::suppression);
    json_.member("baseline", finding.baseline);
    json_.end_object();
  }

  void not_analysed(const NotAnalysed& entry) {
    json_.begin_object();
    json_.member("file", entry.file);
    json_.member("function", entry.function);
    json_.member("reason", entry.reason);
    json_.member("detail", entry.detail);
    json_.end_object();
  }

  void process(const WatchedProcess& process) {
    json_.begin_object();
    json_.member("pid", process.pid);
    json_.member("command", process.command);
    json_.member("host", process.host);
    json_.member("complete", process.complete);
    json_.member("hook_us", process.hook_us);
    json_.end_object();
  }

  void library(const WatchedLibrary& library) {
    json_.begin_object();
    json_.member("name", library.name);
    json_.member("path", library.path);
    json_.end_object();
  }

  void source(const WatchedSource& source) {
    json_.begin_object();
    json_.member("name", source.name);
    json_.member("on", source.on);
    json_.member("why", source.why);
    json_.end_object();
  }

  void watched(const Watched& watched) {
    json_.begin_object();
    list("processes", watched.processes, &ReportWriter::process);
    list("libraries", watched.libraries, &ReportWriter::library);
    json_.key("calls").begin_object();
    for (const auto& [api, calls] : watched.calls) json_.member(api, calls);
    json_.end_object();
    list("sources", watched.sources, &ReportWriter::source);
    json_.end_object();
  }

  void summary(const Summary& summary) {
    json_.begin_object();
    json_.member("errors", summary.errors);
    json_.member("warnings", summary.warnings);
    json_.member("notes", summary.notes);
    json_.member("suppressed", summary.suppressed);
    json_.member("unchanged", summary.unchanged);
    json_.member("not_analysed", summary.not_analysed);
    json_.member("files", summary.files);
    json_.member("calls", summary.calls);
    json_.end_object();
  }

  JsonStream json_;
};

}  // namespace

void write_json(std::ostream& out, const Report& report) {
  ReportWriter(out).write(report);
  out << '\n';
}

}  // namespace dtype_guard
