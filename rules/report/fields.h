// The members of everything in a report, once: the name that JSON gives each and where it is kept, in the
// schema's order. What writes, reads or shows a report goes through them: `each_field(object, visit)`
// calls visit(name, member), with a const object to write and a mutable one to read into.
#pragma once

#include <concepts>
#include <type_traits>

#include "rules/report/report.h"
#include "rules/report/sight.h"

namespace dtype_guard {

template <typename T, typename Plain>
concept IsA = std::same_as<std::remove_const_t<T>, Plain>;

template <typename Visit>
void each_field(IsA<NotebookCell> auto& cell, Visit& visit) {
  visit("number", cell.number);
  visit("line", cell.line);
  visit("column", cell.column);
  visit("end_line", cell.end_line);
  visit("end_column", cell.end_column);
}

// A location's members stand among those of the object that it locates.
template <typename Visit>
void each_range_field(IsA<SourceLocation> auto& at, Visit& visit) {
  visit("file", at.file);
  visit("line", at.line);
  visit("column", at.column);
  visit("end_line", at.end_line);
  visit("end_column", at.end_column);
  visit("cell", at.cell);
}

template <typename Visit>
void each_field(IsA<SourceLocation> auto& location, Visit& visit) {
  each_range_field(location, visit);
  visit("function", location.function);
}

template <typename Visit>
void each_field(IsA<StackFrame> auto& frame, Visit& visit) {
  visit("language", frame.language);
  visit("function", frame.function);
  visit("file", frame.file);
  visit("line", frame.line);
  visit("module", frame.module);
  visit("offset", frame.offset);
}

template <typename Visit>
void each_field(IsA<PathStep> auto& step, Visit& visit) {
  each_field(step.location, visit);
  visit("operator", step.op);
  visit("before", step.before);
  visit("after", step.after);
  visit("note", step.note);
  visit("backtrace", step.backtrace);
}

template <typename Visit>
void each_field(IsA<Sink> auto& sink, Visit& visit) {
  visit("api", sink.api);
  visit("role", sink.role);
  visit("file", sink.location.file);
  visit("line", sink.location.line);
  visit("column", sink.location.column);
  visit("cell", sink.location.cell);
  visit("function", sink.location.function);
}

template <typename Visit>
void each_field(IsA<FindingOperand> auto& operand, Visit& visit) {
  visit("role", operand.role);
  visit("dtypes", operand.dtypes);
  visit("accepts", operand.accepts);
  visit("shape", operand.shape);
  visit("device", operand.device);
  visit("origin", operand.origin);
}

template <typename Visit>
void each_field(IsA<Occurrence> auto& occurrence, Visit& visit) {
  visit("host", occurrence.host);
  visit("rank", occurrence.rank);
  visit("pid", occurrence.pid);
  visit("thread", occurrence.thread);
  visit("first_seen", occurrence.first_seen);
  visit("count", occurrence.count);
  visit("dtypes", occurrence.dtypes);
}

template <typename Visit>
void each_field(IsA<Stack> auto& stack, Visit& visit) {
  visit("kind", stack.kind);
  visit("backtrace", stack.backtrace);
}

template <typename Visit>
void each_field(IsA<Edit> auto& edit, Visit& visit) {
  each_range_field(edit.range, visit);
  visit("replacement", edit.replacement);
}

template <typename Visit>
void each_field(IsA<Fix> auto& fix, Visit& visit) {
  visit("title", fix.title);
  visit("verified", fix.verified);
  visit("edits", fix.edits);
}

template <typename Visit>
void each_field(IsA<Suppression> auto& suppression, Visit& visit) {
  visit("kind", suppression.kind);
  visit("reason", suppression.reason);
  visit("line", suppression.line);
}

template <typename Visit>
void each_field(IsA<Finding> auto& finding, Visit& visit) {
  visit("rule", finding.rule);
  visit("also_rules", finding.also_rules);
  visit("level", finding.level);
  visit("certainty", finding.certainty);
  visit("message", finding.message);
  visit("fingerprint", finding.fingerprint);
  visit("observed", finding.observed);
  visit("runtime", finding.runtime);
  visit("location", finding.location);
  visit("api", finding.api);
  visit("sinks", finding.sinks);
  visit("operands", finding.operands);
  visit("path", finding.path);
  visit("precision", finding.precision);
  visit("torch", finding.torch);
  visit("device", finding.device);
  visit("stacks", finding.stacks);
  visit("backtrace", finding.backtrace);
  visit("count", finding.count);
  visit("occurrences", finding.occurrences);
  visit("fixes", finding.fixes);
  visit("suppression", finding.suppression);
  visit("baseline", finding.baseline);
}

template <typename Visit>
void each_field(IsA<NotAnalysed> auto& entry, Visit& visit) {
  visit("file", entry.file);
  visit("function", entry.function);
  visit("reason", entry.reason);
  visit("detail", entry.detail);
}

template <typename Visit>
void each_field(IsA<CheckedCall> auto& call, Visit& visit) {
  visit("api", call.api);
  visit("location", call.location);
  visit("reached", call.reached);
  visit("operands", call.operands);
  visit("unknown", call.unknown);
}

template <typename Visit>
void each_field(IsA<UnseenCall> auto& call, Visit& visit) {
  visit("name", call.name);
  visit("location", call.location);
  visit("cause", call.cause);
  visit("detail", call.detail);
}

template <typename Visit>
void each_field(IsA<FileSight> auto& file, Visit& visit) {
  visit("file", file.file);
  visit("calls", file.calls);
  visit("undecided", file.undecided);
  visit("unseen", file.unseen);
}

template <typename Visit>
void each_field(IsA<WatchedProcess> auto& process, Visit& visit) {
  visit("pid", process.pid);
  visit("command", process.command);
  visit("host", process.host);
  visit("complete", process.complete);
  visit("hook_us", process.hook_us);
  visit("replaced_by", process.replaced_by);
  visit("joined", process.joined);
}

template <typename Visit>
void each_field(IsA<WatchedLibrary> auto& library, Visit& visit) {
  visit("name", library.name);
  visit("path", library.path);
}

template <typename Visit>
void each_field(IsA<WatchedSource> auto& source, Visit& visit) {
  visit("name", source.name);
  visit("on", source.on);
  visit("why", source.why);
}

template <typename Visit>
void each_field(IsA<Watched> auto& watched, Visit& visit) {
  visit("processes", watched.processes);
  visit("libraries", watched.libraries);
  visit("calls", watched.calls);
  visit("sources", watched.sources);
}

template <typename Visit>
void each_field(IsA<Summary> auto& summary, Visit& visit) {
  visit("errors", summary.errors);
  visit("warnings", summary.warnings);
  visit("notes", summary.notes);
  visit("suppressed", summary.suppressed);
  visit("unchanged", summary.unchanged);
  visit("fixed", summary.fixed);
  visit("not_analysed", summary.not_analysed);
  visit("files", summary.files);
  visit("calls", summary.calls);
  visit("undecided", summary.undecided);
  visit("operands", summary.operands);
  visit("known", summary.known);
  visit("unseen", summary.unseen);
}

}  // namespace dtype_guard
