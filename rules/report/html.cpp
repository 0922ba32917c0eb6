// One HTML file that needs nothing else: the page of html/ with the findings, worst first and with the
// members of the JSON report, the source lines around them and the catalog pages of their rules as JSON
// inside.
#include <fmt/format.h>

#include <ostream>
#include <set>

#include "rules/catalog/catalog.h"
#include "rules/data/embedded.h"
#include "rules/report/field_writer.h"
#include "rules/report/format.h"
#include "rules/report/harm.h"
#include "rules/report/sight.h"
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
  DataWriter(std::ostream& out, const Report& report, Frames frames)
      : json_(out, 0, true), put_(json_), report_(report), frames_(frames), sources_(report.root) {}

  void write() {
    json_.begin_object();
    json_.member("tool", report_.tool.empty() ? "dtype-guard" : report_.tool);
    json_.member("summary", summary());
    json_.key("not_analysed").begin_array();
    for (const NotAnalysed& entry : report_.not_analysed) {
      const std::string function = entry.function.empty() ? "" : fmt::format(" ({})", entry.function);
      const std::string detail = entry.detail.empty() ? "" : ": " + entry.detail;
      json_.value(entry.reason == kUndecided ? entry.detail + function
                                             : entry.file + function + ": " + entry.reason + detail);
    }
    json_.end_array();
    json_.key("findings").begin_array();
    for (const Finding* each : by_harm(report_)) finding(*each);
    json_.end_array();
    rules();
    sources();
    json_.end_object();
  }

 private:
  static std::string plural(std::uint64_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  }

  std::string summary() const {
    const Summary s = summarise(report_);
    std::string text = fmt::format("{}, {}, {}", plural(s.errors, "error"), plural(s.warnings, "warning"),
                                   plural(s.notes, "note"));
    if (s.suppressed > 0) text += fmt::format(", {} suppressed", s.suppressed);
    if (s.unchanged > 0) text += fmt::format(", {} in the baseline", s.unchanged);
    if (s.fixed > 0) text += fmt::format(", {} fixed", s.fixed);
    text += report_.watched ? fmt::format("; {} to watched kernels", plural(s.calls, "call"))
                            : fmt::format("; {}; {} analysed", sight(report_), plural(s.files, "file"));
    text += left_out(report_);
    if (const std::string unseen = unseen_calls(report_); !unseen.empty()) text += "; " + unseen;
    return text;
  }

  // For people a cell is a file of its own.
  Finding in_cells(Finding finding) {
    name_cell(finding.location);
    for (PathStep& each : finding.path) name_cell(each.location);
    for (Sink& each : finding.sinks) name_cell(each.location);
    for (Fix& fix : finding.fixes) {
      for (Edit& each : fix.edits) name_cell(each.range);
    }
    return finding;
  }

  void name_cell(SourceLocation& at) {
    if (!at.cell) return;
    const NotebookCell cell = *at.cell;
    const std::string name = Notebook::cell_name(at.file, cell);
    cells_.try_emplace(name, at.file, cell.number);
    at = {name, cell.line, cell.column, cell.end_line, cell.end_column, at.function};
  }

  void finding(const Finding& as_found) {
    const Finding finding = in_cells(as_found);
    show_around(finding.location);
    for (const PathStep& step : finding.path) show_around(step.location);
    for (const Sink& sink : finding.sinks) show_around(sink.location);
    json_.begin_object();
    each_field(finding, put_);
    put_("extra_bytes", harm(finding).extra_bytes);
    json_.key("shown_stacks").begin_array();
    if (!finding.backtrace.empty()) stack("call", finding.backtrace);
    for (const Stack& each : finding.stacks) stack(each.kind, each.backtrace);
    json_.end_array();
    json_.end_object();
  }

  // { kind, rows: [ { frames: [first, ...], folded: text } ] }
  void stack(std::string_view kind, const std::vector<StackFrame>& frames) {
    json_.begin_object();
    json_.member("kind", kind);
    json_.key("rows").begin_array();
    for (const FrameRow& row : shown_frames(frames, frames_)) {
      json_.begin_object();
      json_.member("folded", row.frame == nullptr ? folded_text(row) : "");
      const auto first = frames.begin() + static_cast<std::ptrdiff_t>(row.first);
      put_("frames", std::vector<StackFrame>(first, first + static_cast<std::ptrdiff_t>(row.count)));
      json_.end_object();
    }
    json_.end_array();
    json_.end_object();
  }

  void show_around(const SourceLocation& at) {
    for (int line = at.line - kLinesAround; at.line > 0 && line <= at.line + kLinesAround; ++line) {
      if (line > 0) shown_[at.file].insert(line);
    }
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
      if (const auto cell = cells_.find(file); cell != cells_.end()) {
        lines_of_cell(file, cell->second.first, cell->second.second, lines);
        continue;
      }
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

  void lines_of_cell(const std::string& name, const std::string& file, int number,
                     const std::set<int>& lines) {
    const Notebook* notebook = sources_.notebook(file);
    if (notebook == nullptr) return;
    json_.key(name).begin_object();
    for (int line : lines) {
      if (const auto text = notebook->line_of_cell(number, line))
        json_.member(std::to_string(line), text->substr(0, kLongestLine));
    }
    json_.end_object();
  }

  JsonStream json_;
  FieldWriter put_;
  const Report& report_;
  Frames frames_;
  SourceFiles sources_;
  std::map<std::string, std::set<int>> shown_;
  std::map<std::string, std::pair<std::string, int>> cells_;  // by the name shown: notebook and number
};

}  // namespace

void write_html(std::ostream& out, const Report& report, Frames frames) {
  std::string_view page = part("page.html");
  while (!page.empty()) {
    const std::size_t at = page.find('@');
    out << page.substr(0, at);
    if (at == std::string_view::npos) return;
    const std::size_t end = page.find('@', at + 1);
    const std::string_view name = page.substr(at + 1, end - at - 1);
    if (name == "DATA") {
      DataWriter(out, report, frames).write();
    } else {
      out << part(name == "STYLE" ? "style.css" : name == "PICTURES" ? "pictures.js" : "script.js");
    }
    page = page.substr(end + 1);
  }
}

}  // namespace dtype_guard
