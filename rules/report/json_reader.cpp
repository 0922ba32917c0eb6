// Reads a JSON report back. Unknown members are ignored, so that a newer tool's report still loads; a member
// of the wrong type is an error that names its place.
#include <fmt/format.h>

#include <limits>
#include <utility>

#include "rules/data/located_json.h"
#include "rules/report/report.h"

namespace dtype_guard {
namespace {

constexpr std::string_view kSchema = "dtype-guard/report/1";

class ReportReader {
 public:
  explicit ReportReader(const std::string& file) : file_(file) {}

  Report read(const JsonNode& root) const {
    const JsonNode* schema = root.member("schema");
    if (schema == nullptr || schema->string() == nullptr || *schema->string() != kSchema) {
      wrong(schema != nullptr ? *schema : root, fmt::format("a report with \"schema\": \"{}\"", kSchema));
    }
    for (const char* required : {"tool", "findings"}) {
      if (root.member(required) == nullptr) wrong(root, fmt::format("a member \"{}\"", required));
    }
    Report report;
    const JsonNode& tool = *root.member("tool");
    text(tool, "name", report.tool);
    text(tool, "version", report.tool_version);
    text(root, "root", report.root);
    list(root, "findings", report.findings, &ReportReader::finding);
    list(root, "not_analysed", report.not_analysed, &ReportReader::not_analysed);
    if (const JsonNode* node = present(root, "watched")) report.watched = watched(*node);
    if (const JsonNode* summary = present(root, "summary")) number(*summary, "files", report.files_analysed);
    return report;
  }

 private:
  [[noreturn]] void wrong(const JsonNode& node, const std::string& expected) const {
    throw ReportError(fmt::format("{}:{}: {}: found {}, expected {}", file_, node.line,
                                  node.pointer.empty() ? "/" : node.pointer, node.describe(), expected));
  }

  // The member, unless absent or null; `object` must be an object.
  const JsonNode* present(const JsonNode& object, std::string_view key) const {
    if (object.members() == nullptr) wrong(object, "an object");
    const JsonNode* node = object.member(key);
    return node == nullptr || node->is_null() ? nullptr : node;
  }

  void text(const JsonNode& object, std::string_view key, std::string& into) const {
    if (const JsonNode* node = present(object, key)) into = string(*node);
  }

  std::string string(const JsonNode& node) const {
    if (node.string() == nullptr) wrong(node, "a string");
    return *node.string();
  }

  void flag(const JsonNode& object, std::string_view key, bool& into) const {
    const JsonNode* node = present(object, key);
    if (node == nullptr) return;
    if (node->boolean() == nullptr) wrong(*node, "true or false");
    into = *node->boolean();
  }

  template <typename Number>
  void number(const JsonNode& object, std::string_view key, Number& into) const {
    if (const JsonNode* node = present(object, key)) into = integer<Number>(*node);
  }

  template <typename Number>
  Number integer(const JsonNode& node) const {
    using Limits = std::numeric_limits<Number>;
    if (const auto* value = std::get_if<std::int64_t>(&node.value)) {
      if (std::in_range<Number>(*value)) return static_cast<Number>(*value);
    }
    if (const auto* value = std::get_if<std::uint64_t>(&node.value)) {
      if (std::in_range<Number>(*value)) return static_cast<Number>(*value);
    }
    wrong(node, fmt::format("a whole number from {} to {}", Limits::min(), Limits::max()));
  }

  template <typename Item>
  void list(const JsonNode& object, std::string_view key, std::vector<Item>& into,
            Item (ReportReader::*convert)(const JsonNode&) const) const {
    const JsonNode* node = present(object, key);
    if (node == nullptr) return;
    if (node->items() == nullptr) wrong(*node, "an array");
    for (const JsonNode& item : *node->items()) into.push_back((this->*convert)(item));
  }

  void strings(const JsonNode& object, std::string_view key, std::vector<std::string>& into) const {
    list(object, key, into, &ReportReader::string);
  }

  template <typename Value>
  void word(const JsonNode& object, std::string_view key, Value& into,
            std::optional<Value> (*parse)(std::string_view), const std::string& words) const {
    const JsonNode* node = present(object, key);
    if (node == nullptr) return;
    const auto parsed = parse(string(*node));
    if (!parsed) wrong(*node, words);
    into = *parsed;
  }

  SourceLocation location(const JsonNode& node) const {
    SourceLocation location;
    text(node, "file", location.file);
    number(node, "line", location.line);
    number(node, "column", location.column);
    number(node, "end_line", location.end_line);
    number(node, "end_column", location.end_column);
    text(node, "function", location.function);
    return location;
  }

  StackFrame frame(const JsonNode& node) const {
    StackFrame frame;
    text(node, "language", frame.language);
    text(node, "function", frame.function);
    text(node, "file", frame.file);
    number(node, "line", frame.line);
    text(node, "module", frame.module);
    number(node, "offset", frame.offset);
    return frame;
  }

  PathStep step(const JsonNode& node) const {
    PathStep step;
    step.location = location(node);
    text(node, "operator", step.op);
    text(node, "before", step.before);
    text(node, "after", step.after);
    text(node, "note", step.note);
    list(node, "backtrace", step.backtrace, &ReportReader::frame);
    return step;
  }

  Sink sink(const JsonNode& node) const {
    Sink sink;
    text(node, "api", sink.api);
    text(node, "role", sink.role);
    sink.location = location(node);
    return sink;
  }

  FindingOperand operand(const JsonNode& node) const {
    FindingOperand operand;
    text(node, "role", operand.role);
    strings(node, "dtypes", operand.dtypes);
    strings(node, "accepts", operand.accepts);
    list(node, "shape", operand.shape, &ReportReader::integer<std::int64_t>);
    text(node, "device", operand.device);
    if (const JsonNode* origin = present(node, "origin")) operand.origin = integer<std::size_t>(*origin);
    return operand;
  }

  Occurrence occurrence(const JsonNode& node) const {
    Occurrence occurrence;
    text(node, "host", occurrence.host);
    if (const JsonNode* rank = present(node, "rank")) occurrence.rank = integer<int>(*rank);
    number(node, "pid", occurrence.pid);
    number(node, "thread", occurrence.thread);
    text(node, "first_seen", occurrence.first_seen);
    number(node, "count", occurrence.count);
    strings(node, "dtypes", occurrence.dtypes);
    return occurrence;
  }

  Stack stack(const JsonNode& node) const {
    Stack stack;
    text(node, "kind", stack.kind);
    list(node, "backtrace", stack.backtrace, &ReportReader::frame);
    return stack;
  }

  Edit edit(const JsonNode& node) const {
    Edit edit{location(node), {}};
    text(node, "replacement", edit.replacement);
    return edit;
  }

  Fix fix(const JsonNode& node) const {
    Fix fix;
    text(node, "title", fix.title);
    flag(node, "verified", fix.verified);
    list(node, "edits", fix.edits, &ReportReader::edit);
    return fix;
  }

  Suppression suppression(const JsonNode& node) const {
    Suppression suppression;
    text(node, "kind", suppression.kind);
    text(node, "reason", suppression.reason);
    number(node, "line", suppression.line);
    return suppression;
  }

  Finding finding(const JsonNode& node) const {
    Finding finding;
    if (present(node, "rule") == nullptr) wrong(node, "a finding with a \"rule\"");
    text(node, "rule", finding.rule);
    strings(node, "also_rules", finding.also_rules);
    word(node, "level", finding.level, &parse_level, "\"error\", \"warning\" or \"note\"");
    word(node, "certainty", finding.certainty, &parse_certainty, "\"definite\" or \"possible\"");
    text(node, "message", finding.message);
    text(node, "fingerprint", finding.fingerprint);
    strings(node, "observed", finding.observed);
    text(node, "runtime", finding.runtime);
    if (const JsonNode* where = present(node, "location")) finding.location = location(*where);
    text(node, "api", finding.api);
    list(node, "sinks", finding.sinks, &ReportReader::sink);
    list(node, "operands", finding.operands, &ReportReader::operand);
    list(node, "path", finding.path, &ReportReader::step);
    strings(node, "precision", finding.precision);
    strings(node, "torch", finding.torch);
    text(node, "device", finding.device);
    list(node, "stacks", finding.stacks, &ReportReader::stack);
    list(node, "backtrace", finding.backtrace, &ReportReader::frame);
    number(node, "count", finding.count);
    list(node, "occurrences", finding.occurrences, &ReportReader::occurrence);
    list(node, "fixes", finding.fixes, &ReportReader::fix);
    if (const JsonNode* hidden = present(node, "suppression")) finding.suppression = suppression(*hidden);
    text(node, "baseline", finding.baseline);
    check_origins(finding, node);
    return finding;
  }

  // An origin is an index into the path of the same finding; whoever follows it must not have to check again.
  void check_origins(const Finding& finding, const JsonNode& node) const {
    for (std::size_t i = 0; i < finding.operands.size(); ++i) {
      const auto& origin = finding.operands[i].origin;
      if (!origin || *origin < finding.path.size()) continue;
      wrong(*(*node.member("operands")->items())[i].member("origin"),
            fmt::format("an index into this finding's path of {} steps", finding.path.size()));
    }
  }

  NotAnalysed not_analysed(const JsonNode& node) const {
    NotAnalysed entry;
    text(node, "file", entry.file);
    text(node, "function", entry.function);
    text(node, "reason", entry.reason);
    text(node, "detail", entry.detail);
    return entry;
  }

  WatchedProcess process(const JsonNode& node) const {
    WatchedProcess process;
    number(node, "pid", process.pid);
    text(node, "command", process.command);
    text(node, "host", process.host);
    flag(node, "complete", process.complete);
    number(node, "hook_us", process.hook_us);
    return process;
  }

  WatchedLibrary library(const JsonNode& node) const {
    WatchedLibrary library;
    text(node, "name", library.name);
    text(node, "path", library.path);
    return library;
  }

  WatchedSource source(const JsonNode& node) const {
    WatchedSource source;
    text(node, "name", source.name);
    flag(node, "on", source.on);
    text(node, "why", source.why);
    return source;
  }

  Watched watched(const JsonNode& node) const {
    Watched watched;
    list(node, "processes", watched.processes, &ReportReader::process);
    list(node, "libraries", watched.libraries, &ReportReader::library);
    list(node, "sources", watched.sources, &ReportReader::source);
    if (const JsonNode* calls = present(node, "calls")) {
      if (calls->members() == nullptr) wrong(*calls, "an object of API names and counts");
      for (const auto& [api, count] : *calls->members()) watched.calls[api] = integer<std::uint64_t>(count);
    }
    return watched;
  }

  const std::string& file_;
};

}  // namespace

Report read_json(std::string_view text, const std::string& file) {
  try {
    return ReportReader(file).read(parse_located_json(text));
  } catch (const JsonError& error) {
    throw ReportError(fmt::format("{}:{}: {}", file, error.line, error.problem));
  }
}

}  // namespace dtype_guard
