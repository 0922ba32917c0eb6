// SARIF 2.1.0, for GitHub code scanning, IDE viewers and Qodana. The location of a result is the line to
// edit, its code flow the way of the dtype from there to the call, and the call a related location.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <unordered_map>

#include "rules/report/format.h"
#include "rules/report/harm.h"
#include "rules/report/line_hash.h"
#include "rules/report/sarif_run.h"
#include "rules/report/shown_place.h"
#include "rules/report/source_files.h"
#include "rules/text/utf8.h"

namespace dtype_guard {
namespace {

using sarif::Excess;
using sarif::Limits;

constexpr Limits kLimits;
constexpr sarif::Pages kPages{DTYPE_GUARD_HOME_PAGE, DTYPE_GUARD_RULE_PAGES};  // of the build

// In plain text messages SARIF reads [text](target) as a link.
std::string plain(std::string_view text) {
  std::string safe;
  for (char c : text) {
    if (c == '[' || c == ']' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe;
}

std::string step_text(const PathStep& step) {
  std::string text = step.note.empty() ? step.op : step.note;
  if (!step.before.empty() && !step.after.empty()) {
    text += fmt::format(" ({} -> {})", step.before, step.after);
  } else if (!step.after.empty()) {
    text += fmt::format(" ({})", step.after);
  }
  return text;
}

class SarifWriter {
 public:
  SarifWriter(std::ostream& out, const Report& report, Frames frames)
      : json_(out, 1),
        report_(report),
        frames_(frames),
        rules_(sarif::rule_indices(report)),
        sources_(report.root) {}

  void write() {
    json_.begin_object();
    json_.member(
        "$schema",
        "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json");
    json_.member("version", "2.1.0");
    json_.key("runs").begin_array();
    json_.begin_object();
    sarif::write_tool(json_, report_, rules_, kPages);
    json_.key("automationDetails").begin_object();
    json_.member("id", report_.tool + "/");
    json_.end_object();
    json_.member("columnKind", "utf16CodeUnits");
    sarif::write_bases(json_, report_);
    const std::vector<const Finding*> taken = within_limit();
    json_.key("results").begin_array();
    for (const Finding* finding : taken) result(*finding);
    json_.end_array();
    sarif::write_invocation(json_, report_, kLimits, excess_);
    json_.end_object();
    json_.end_array();
    json_.end_object();
  }

 private:
  // Where there are too many, those of most harm stay; all stand in the report's order.
  std::vector<const Finding*> within_limit() {
    std::vector<const Finding*> taken = by_harm(report_);
    if (taken.size() > kLimits.results) {
      excess_.results = taken.size() - kLimits.results;
      taken.resize(kLimits.results);
    }
    std::sort(taken.begin(), taken.end());  // they point into one vector
    return taken;
  }

  void message(std::string_view text) {
    json_.key("message").begin_object();
    json_.member("text", plain(text));
    json_.end_object();
  }

  void artifact(const std::string& file) {
    const bool relative = file.front() != '/';
    json_.key("artifactLocation").begin_object();
    json_.member("uri", (relative ? "" : "file://") + sarif::uri_path(file));
    if (relative) json_.member("uriBaseId", sarif::kSourceRoot);
    json_.end_object();
  }

  // From UTF-8 bytes to UTF-16 units; as it is when the line cannot be read.
  int utf16_column(const std::string& file, int line, int column) {
    const std::string_view text = sources_.line(file, line).substr(0, static_cast<std::size_t>(column) - 1);
    return column - static_cast<int>(text.size()) + static_cast<int>(utf16_length(text));
  }

  void region(std::string_view key, const SourceLocation& at) {
    if (at.line < 1) return;
    json_.key(key).begin_object();
    json_.member("startLine", at.line);
    if (at.column > 0) json_.member("startColumn", utf16_column(at.file, at.line, at.column));
    const bool ends = at.end_column > 0 &&
                      (at.end_line > at.line || (at.end_line == at.line && at.end_column >= at.column));
    if (ends) {
      json_.member("endLine", at.end_line);
      json_.member("endColumn", utf16_column(at.file, at.end_line, at.end_column));
    }
    json_.end_object();
  }

  // The members of a location object.
  void location(const SourceLocation& at, std::string_view text) {
    if (!at.file.empty()) {
      json_.key("physicalLocation").begin_object();
      artifact(at.file);
      region("region", at);
      json_.end_object();
    }
    if (!at.function.empty()) {
      json_.key("logicalLocations").begin_array();
      json_.begin_object();
      json_.member("fullyQualifiedName", at.function);
      json_.member("kind", "function");
      json_.end_object();
      json_.end_array();
    }
    if (!text.empty()) message(std::string(text) + cell_words(at));
  }

  void result(const Finding& finding) {
    const bool fixed = finding.baseline == "fixed";
    json_.begin_object();
    json_.member("ruleId", finding.rule);
    json_.member("ruleIndex", rules_.at(finding.rule));
    if (fixed) json_.member("kind", "pass");
    json_.member("level", fixed ? "none" : name(finding.level));
    const bool possible = finding.certainty == Certainty::kPossible;
    message((possible ? "possibly: " : "") + finding.message + cell_words(finding.location));
    json_.key("locations").begin_array();
    json_.begin_object();
    location(finding.location, "");
    json_.end_object();
    json_.end_array();
    related(finding.sinks);
    code_flow(finding.path);
    stacks(finding);
    fixes(finding.fixes);
    fingerprints(finding);
    state(finding);
    properties(finding);
    json_.end_object();
  }

  void related(const std::vector<Sink>& sinks) {
    if (sinks.empty()) return;
    const std::size_t taken = std::min(sinks.size(), kLimits.locations);
    excess_.locations += sinks.size() - taken;
    json_.key("relatedLocations").begin_array();
    for (std::size_t i = 0; i < taken; ++i) {
      json_.begin_object();
      json_.member("id", i + 1);
      SourceLocation at = sinks[i].location;
      at.end_line = at.end_column = 0;  // the JSON report does not keep them, and both must give one SARIF
      location(at, fmt::format("reaches {} as {} here", sinks[i].api, sinks[i].role));
      json_.end_object();
    }
    json_.end_array();
  }

  void code_flow(const std::vector<PathStep>& path) {
    if (path.empty()) return;
    const std::size_t taken = std::min(path.size(), kLimits.flow_locations);
    excess_.flow_locations += path.size() - taken;
    json_.key("codeFlows").begin_array();
    json_.begin_object();
    json_.key("threadFlows").begin_array();
    json_.begin_object();
    json_.key("locations").begin_array();
    for (std::size_t i = 0; i < taken; ++i) step(path[i], i + 1);
    json_.end_array();
    json_.end_object();
    json_.end_array();
    json_.end_object();
    json_.end_array();
  }

  void step(const PathStep& step, std::size_t order) {
    json_.begin_object();
    json_.key("location").begin_object();
    location(step.location, step_text(step));
    json_.end_object();
    if (!step.after.empty()) {
      json_.key("state").begin_object();
      json_.key("dtype").begin_object();
      json_.member("text", step.after);
      json_.end_object();
      json_.end_object();
    }
    json_.member("executionOrder", order);
    json_.member("importance", "essential");
    json_.end_object();
  }

  void stacks(const Finding& finding) {
    if (finding.backtrace.empty() && finding.stacks.empty()) return;
    json_.key("stacks").begin_array();
    if (!finding.backtrace.empty()) stack("call", finding.backtrace);
    for (const Stack& each : finding.stacks) stack(each.kind, each.backtrace);
    json_.end_array();
  }

  void stack(std::string_view kind, const std::vector<StackFrame>& frames) {
    json_.begin_object();
    message(kind);
    json_.key("frames").begin_array();
    for (const FrameRow& row : shown_frames(frames, frames_)) {
      json_.begin_object();
      json_.key("location").begin_object();
      if (row.frame == nullptr) {
        message(folded_text(row));
      } else {
        location({row.frame->file, row.frame->line, 0, 0, 0, row.frame->function}, "");
      }
      json_.end_object();
      json_.member_if("module", row.frame == nullptr ? row.modules : row.frame->module);
      json_.end_object();
    }
    json_.end_array();
    json_.end_object();
  }

  void fixes(const std::vector<Fix>& fixes) {
    if (fixes.empty()) return;
    json_.key("fixes").begin_array();
    for (const Fix& fix : fixes) {
      if (fix.edits.empty()) continue;
      json_.begin_object();
      json_.key("description").begin_object();
      json_.member("text", plain(fix.title));
      json_.end_object();
      json_.key("artifactChanges").begin_array();
      for (const Edit& edit : fix.edits) change(edit);
      json_.end_array();
      json_.end_object();
    }
    json_.end_array();
  }

  void change(const Edit& edit) {
    json_.begin_object();
    artifact(edit.range.file.empty() ? "unknown" : edit.range.file);
    json_.key("replacements").begin_array();
    json_.begin_object();
    SourceLocation range = edit.range;
    range.line = std::max(range.line, 1);
    region("deletedRegion", range);
    json_.key("insertedContent").begin_object();
    json_.member("text", edit.replacement);
    json_.end_object();
    json_.end_object();
    json_.end_array();
    json_.end_object();
  }

  void fingerprints(const Finding& finding) {
    json_.key("partialFingerprints").begin_object();
    const std::string line_hash = primary_line_hash(finding.location);
    json_.member_if("primaryLocationLineHash", line_hash);
    json_.member_if("dtypeFlow/v1", finding.fingerprint);
    json_.end_object();
  }

  // Of the first line when the location has none, as the uploader does; empty when the file cannot be read.
  std::string primary_line_hash(const SourceLocation& at) {
    const std::string* text = sources_.text(at.file);
    if (text == nullptr) return {};
    const auto [entry, added] = hashes_.try_emplace(at.file);
    if (added) entry->second = line_hashes(*text);
    const auto line = static_cast<std::size_t>(std::max(at.line, 1)) - 1;
    return line < entry->second.size() ? entry->second[line] : std::string{};
  }

  void state(const Finding& finding) {
    if (finding.suppression) {
      json_.key("suppressions").begin_array();
      json_.begin_object();
      json_.member("kind", finding.suppression->kind == "comment" ? "inSource" : "external");
      json_.member("status", "accepted");
      json_.member_if("justification", finding.suppression->reason);
      json_.end_object();
      json_.end_array();
    }
    if (!finding.baseline.empty()) {
      json_.member("baselineState", finding.baseline == "fixed" ? "absent" : finding.baseline);
    }
    if (finding.count > 1) json_.member("occurrenceCount", finding.count);
  }

  void properties(const Finding& finding) {
    json_.key("properties").begin_object();
    json_.member("certainty", name(finding.certainty));
    json_.member_if("api", finding.api);
    json_.member_if("alsoRules", finding.also_rules);
    json_.member_if("observed", finding.observed);
    json_.member_if("runtime", finding.runtime);
    json_.member_if("precision", finding.precision);
    json_.member_if("torch", finding.torch);
    json_.member_if("device", finding.device);
    if (!finding.operands.empty()) {
      json_.key("operands").begin_array();
      for (const FindingOperand& operand : finding.operands) {
        json_.begin_object();
        json_.member("role", operand.role);
        json_.member("dtypes", operand.dtypes);
        json_.member("accepts", operand.accepts);
        json_.end_object();
      }
      json_.end_array();
    }
    json_.end_object();
  }

  JsonStream json_;
  const Report& report_;
  Frames frames_;
  std::map<std::string, std::size_t> rules_;
  SourceFiles sources_;
  std::unordered_map<std::string, std::vector<std::string>> hashes_;
  Excess excess_;
};

}  // namespace

void write_sarif(std::ostream& out, const Report& report, Frames frames) {
  SarifWriter(out, report, frames).write();
  out << '\n';
}

}  // namespace dtype_guard
