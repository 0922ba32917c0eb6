// GitLab Code Quality: a JSON array with one object for each open finding. GitLab compares fingerprints
// between branches, so ours, which know no line numbers, serve as they are.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "rules/report/format.h"
#include "rules/report/json_stream.h"
#include "rules/report/shown_place.h"

namespace dtype_guard {
namespace {

std::string_view severity(const Finding& finding) {
  const bool definite = finding.certainty == Certainty::kDefinite;
  switch (finding.level) {
    case Level::kError:
      return definite ? "critical" : "major";
    case Level::kWarning:
      return definite ? "major" : "minor";
    case Level::kNote:
      return "info";
  }
  return "info";
}

}  // namespace

void write_gitlab(std::ostream& out, const Report& report) {
  {
    JsonStream json(out);
    json.begin_array();
    for (const Finding& finding : report.findings) {
      if (!is_open(finding)) continue;
      const bool possible = finding.certainty == Certainty::kPossible;
      json.begin_object();
      json.member("description", fmt::format("{}{}{}", possible ? "possibly: " : "", finding.message,
                                             cell_words(finding.location)));
      json.member("check_name", finding.rule);
      json.member("fingerprint", finding.fingerprint);
      json.member("severity", severity(finding));
      if (!finding.fixes.empty()) {
        json.key("content").begin_object();
        json.member("body", "fix: " + finding.fixes.front().title);
        json.end_object();
      }
      json.key("location").begin_object();
      json.member("path", finding.location.file);
      json.key("lines").begin_object();
      json.member("begin", std::max(finding.location.line, 1));
      if (finding.location.end_line > finding.location.line) json.member("end", finding.location.end_line);
      json.end_object();
      json.end_object();
      json.end_object();
    }
    json.end_array();
  }
  out << '\n';
}

}  // namespace dtype_guard
