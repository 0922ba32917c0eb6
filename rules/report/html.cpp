// One HTML file that needs nothing else: the page of html/ with the findings, worst first, the source lines
// around them and the catalog pages of their rules as JSON inside.
#include <fmt/format.h>

#include <ostream>
#include <set>

#include "rules/catalog/catalog.h"
#include "rules/data/embedded.h"
#include "rules/report/format.h"
#include "rules/report/harm.h"
#include "rules/report/json_stream.h"
#include "rules/report/source_files.h"

namespace dtype_guard {
namespace {

constexpr int kLinesAround = 3;
constexpr std::size_t kLongestLine = 400;  // bytes of a source line

std::string_view part(std::string_view name) {
  for (const EmbeddedFile& file : embedded_html()) {
    if (file.name == name) return file.text;
  }
  return {};
}

class DataWriter {
 public:
  DataWriter(std::ostream& out, const Report& report)
      : json_(out, 0, true), report_(report), sources_(report.root) {}

  void write() {
    json_.begin_object();
    json_.member("tool", report_.tool.empty() ? "dtype-guard" : report_.tool);
    json_.member("summary", summary());
    json_.key("findings").begin_array();
    for (const Finding* each : by_harm(report_)) finding(*each);
    json_.end_array();
    rules();
    sources();
    json_.end_object();
  }

 private:
  std::string summary() const {
    const Summary s = summarise(report_);
    std::string text = fmt::format("{} errors, {} warnings, {} notes", s.errors, s.warnings, s.notes);
    if (s.suppressed > 0) text += fmt::format(", {} suppressed", s.suppressed);
    if (s.unchanged > 0) text += fmt::format(", {} in the baseline", s.unchanged);
    text += report_.watched ? fmt::format("; {} calls to watched kernels", s.calls)
                            : fmt::format("; {} files analysed", s.files);
    if (s.not_analysed > 0) text += fmt::format(", {} not analysed", s.not_analysed);
    return text;
  }

  // Its members; the lines around it will be shown.
  void place(const SourceLocation& at) {
    json_.member("file", at.file);
    json_.member("line", at.line);
    json_.member("column", at.column);
    json_.member("end_line", at.end_line);
    json_.member("end_column", at.end_column);
    json_.member("function", at.function);
    for (int line = at.line - kLinesAround; at.line > 0 && line <= at.line + kLinesAround; ++line) {
      if (line > 0) shown_[at.file].insert(line);
    }
  }

  void finding(const Finding& finding) {
    json_.begin_object();
    json_.member("rule", finding.rule);
    json_.member("also_rules", finding.also_rules);
    json_.member("level", name(finding.level));
    json_.member("certainty", name(finding.certainty));
    json_.member("message", finding.message);
    json_.member("fingerprint", finding.fingerprint);
    json_.member("api", finding.api);
    json_.member("runtime", finding.runtime);
    json_.member("precision", finding.precision);
    json_.member("torch", finding.torch);
    json_.member("count", finding.count);
    json_.member("baseline", finding.baseline);
    json_.member("extra_bytes", harm(finding).extra_bytes);
    json_.key("location").begin_object();
    place(finding.location);
    json_.end_object();
    path(finding);
    operands(finding);
    stacks(finding);
    fixes(finding);
    ranks(finding);
    if (finding.suppression) {
      json_.key("suppression").begin_object();
      json_.member("reason", finding.suppression->reason);
      json_.end_object();
    }
    json_.end_object();
  }

  void path(const Finding& finding) {
    json_.key("path").begin_array();
    for (const PathStep& step : finding.path) {
      json_.begin_object();
      place(step.location);
      json_.member("operator", step.op);
      json_.member("before", step.before);
      json_.member("after", step.after);
      json_.member("note", step.note);
      json_.end_object();
    }
    json_.end_array();
    json_.key("sinks").begin_array();
    for (const Sink& sink : finding.sinks) {
      json_.begin_object();
      json_.member("api", sink.api);
      json_.member("role", sink.role);
      SourceLocation at = sink.location;
      at.end_line = at.end_column = 0;  // the JSON report does not keep them, and both must give one page
      place(at);
      json_.end_object();
    }
    json_.end_array();
  }

  void operands(const Finding& finding) {
    json_.key("operands").begin_array();
    for (const FindingOperand& operand : finding.operands) {
      json_.begin_object();
      json_.member("role", operand.role);
      json_.member("dtypes", operand.dtypes);
      json_.member("accepts", operand.accepts);
      json_.member("shape", operand.shape);
      json_.member("device", operand.device);
      json_.end_object();
    }
    json_.end_array();
  }

  void stacks(const Finding& finding) {
    json_.key("stacks").begin_array();
    if (!finding.backtrace.empty()) stack("call", finding.backtrace);
    for (const Stack& each : finding.stacks) stack(each.kind, each.backtrace);
    json_.end_array();
  }

  void stack(std::string_view kind, const std::vector<StackFrame>& frames) {
    std::string text;
    for (const StackFrame& frame : frames) {
      const std::string where = !frame.file.empty() ? fmt::format("{}:{}", frame.file, frame.line)
                                                    : fmt::format("{} (+{:#x})", frame.module, frame.offset);
      text += fmt::format("{}  {}\n", frame.function.empty() ? "??" : frame.function, where);
    }
    json_.begin_object();
    json_.member("kind", kind);
    json_.member("text", text);
    json_.end_object();
  }

  void fixes(const Finding& finding) {
    json_.key("fixes").begin_array();
    for (const Fix& fix : finding.fixes) {
      json_.begin_object();
      json_.member("title", fix.title);
      json_.member("verified", fix.verified);
      json_.key("edits").begin_array();
      for (const Edit& edit : fix.edits) {
        json_.begin_object();
        json_.member("file", edit.range.file);
        json_.member("line", edit.range.line);
        json_.member("replacement", edit.replacement);
        json_.end_object();
      }
      json_.end_array();
      json_.end_object();
    }
    json_.end_array();
  }

  void ranks(const Finding& finding) {
    std::set<int> ranks;
    for (const Occurrence& occurrence : finding.occurrences) {
      if (occurrence.rank) ranks.insert(*occurrence.rank);
    }
    json_.member("ranks", std::vector<int>(ranks.begin(), ranks.end()));
  }

  void rules() {
    std::set<std::string> used;
    for (const Finding& finding : report_.findings) used.insert(finding.rule);
    json_.key("rules").begin_object();
    for (const std::string& id : used) {
      if (const Rule* rule = find_rule(id)) json_.member(id, rule->text);
    }
    json_.end_object();
  }

  // { file: { line: text } }
  void sources() {
    json_.key("sources").begin_object();
    for (const auto& [file, lines] : shown_) {
      if (sources_.text(file) == nullptr) continue;
      json_.key(file).begin_object();
      const auto last = static_cast<int>(sources_.lines(file).size());
      for (int line : lines) {
        if (line > last) break;
        json_.member(std::to_string(line), sources_.line(file, line).substr(0, kLongestLine));
      }
      json_.end_object();
    }
    json_.end_object();
  }

  JsonStream json_;
  const Report& report_;
  SourceFiles sources_;
  std::map<std::string, std::set<int>> shown_;
};

}  // namespace

void write_html(std::ostream& out, const Report& report) {
  std::string_view page = part("page.html");
  while (!page.empty()) {
    const std::size_t at = page.find('@');
    out << page.substr(0, at);
    if (at == std::string_view::npos) return;
    const std::size_t end = page.find('@', at + 1);
    const std::string_view name = page.substr(at + 1, end - at - 1);
    if (name == "DATA") {
      DataWriter(out, report).write();
    } else {
      out << part(name == "STYLE" ? "style.css" : "script.js");
    }
    page = page.substr(end + 1);
  }
}

}  // namespace dtype_guard
