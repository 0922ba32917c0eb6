// Reviewdog Diagnostic Format: open findings with the dtype path as related locations and fixes as
// suggestions, which reviewdog offers for a click in the pull request. Its columns are UTF-8 bytes, as ours.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "rules/report/format.h"
#include "rules/report/json_stream.h"
#include "rules/report/shown_place.h"

namespace dtype_guard {
namespace {

std::string_view severity(Level level) {
  switch (level) {
    case Level::kError:
      return "ERROR";
    case Level::kWarning:
      return "WARNING";
    case Level::kNote:
      return "INFO";
  }
  return "INFO";
}

class RdjsonWriter {
 public:
  explicit RdjsonWriter(std::ostream& out) : json_(out) {}

  void write(const Report& report) {
    json_.begin_object();
    json_.key("source").begin_object();
    json_.member("name", report.tool);
    json_.end_object();
    json_.key("diagnostics").begin_array();
    for (const Finding& finding : report.findings) {
      if (is_open(finding)) diagnostic(finding);
    }
    json_.end_array();
    json_.end_object();
  }

 private:
  void diagnostic(const Finding& finding) {
    const bool possible = finding.certainty == Certainty::kPossible;
    json_.begin_object();
    json_.member("message", fmt::format("{}{}{}", possible ? "possibly: " : "", finding.message,
                                        cell_words(finding.location)));
    json_.key("location");
    location(finding.location);
    json_.member("severity", severity(finding.level));
    json_.key("code").begin_object();
    json_.member("value", finding.rule);
    json_.end_object();
    suggestions(finding);
    related(finding);
    json_.end_object();
  }

  void position(std::string_view key, int line, int column) {
    json_.key(key).begin_object();
    json_.member("line", line);
    if (column > 0) json_.member("column", column);
    json_.end_object();
  }

  void range(const SourceLocation& at) {
    json_.key("range").begin_object();
    position("start", at.line, at.column);
    if (at.end_line >= at.line && at.end_column > 0) position("end", at.end_line, at.end_column);
    json_.end_object();
  }

  void location(const SourceLocation& at) {
    json_.begin_object();
    json_.member("path", at.file);
    if (at.line > 0) range(at);
    json_.end_object();
  }

  // A suggestion replaces a range of the diagnostic's own file; a fix that needs more than one edit or
  // touches other files cannot be offered for a click.
  void suggestions(const Finding& finding) {
    const auto offered = [&](const Fix& fix) {
      return fix.edits.size() == 1 && fix.edits[0].range.file == finding.location.file &&
             fix.edits[0].range.line > 0;
    };
    if (std::none_of(finding.fixes.begin(), finding.fixes.end(), offered)) return;
    json_.key("suggestions").begin_array();
    for (const Fix& fix : finding.fixes) {
      if (!offered(fix)) continue;
      json_.begin_object();
      range(fix.edits[0].range);
      json_.member("text", fix.edits[0].replacement);
      json_.end_object();
    }
    json_.end_array();
  }

  void related(const Finding& finding) {
    if (finding.path.empty() && finding.sinks.empty()) return;
    json_.key("relatedLocations").begin_array();
    for (const PathStep& step : finding.path) {
      const std::string& what = step.note.empty() ? step.op : step.note;
      related_location(step.after.empty() ? what : fmt::format("{} ({})", what, step.after), step.location);
    }
    for (const Sink& sink : finding.sinks) {
      SourceLocation at = sink.location;
      at.end_line = at.end_column = 0;  // the JSON report does not keep them, and both must give one file
      related_location(fmt::format("reaches {} as {} here", sink.api, sink.role), at);
    }
    json_.end_array();
  }

  void related_location(const std::string& message, const SourceLocation& at) {
    json_.begin_object();
    json_.member("message", message + cell_words(at));
    json_.key("location");
    location(at);
    json_.end_object();
  }

  JsonStream json_;
};

}  // namespace

void write_rdjson(std::ostream& out, const Report& report) {
  RdjsonWriter(out).write(report);
  out << '\n';
}

}  // namespace dtype_guard
