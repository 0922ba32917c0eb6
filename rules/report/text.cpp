// The report for people. A finding reads like a compiler's diagnostic; what was seen at run time follows it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <utility>

#include "rules/report/report.h"
#include "rules/report/shown_place.h"
#include "rules/report/sight.h"
#include "rules/report/source_snippet.h"
#include "rules/report/statistics.h"
#include "rules/text/lists.h"
#include "rules/text/printable.h"

namespace dtype_guard {
namespace {

std::string plural(std::uint64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

class TextWriter {
 public:
  TextWriter(std::ostream& out, const Report& report, const TextOptions& options)
      : out_(out), report_(report), options_(options), snippets_(report.root) {}

  void write() {
    if (report_.watched && !options_.quiet) watched(*report_.watched);
    if (options_.statistics) {
      write_statistics(out_, report_);
      options_.quiet ? failures() : closing();
      return;
    }
    for (const Finding& finding : report_.findings) {
      if (is_open(finding)) open_finding(finding);
    }
    if (options_.quiet) {
      failures();
      return;
    }
    for (const Finding& finding : report_.findings) {
      if (finding.baseline == "fixed") {
        const std::string& function = finding.location.function;
        out_ << fmt::format(
            "{}: fixed: {}{} [{}]\n", shown_place(finding.location), printable(finding.message),
            function.empty() ? "" : fmt::format(", in '{}'", printable(function)), printable(finding.rule));
      } else if (finding.suppression) {
        suppressed(finding);
      }
    }
    closing();
  }

 private:
  void closing() {
    not_analysed();
    if (const std::string unseen = unseen_calls(report_); !unseen.empty()) out_ << unseen << '\n';
    summary(summarise(report_));
  }

  std::string painted(std::string_view text, std::string_view code) const {
    return options_.color ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
  }

  std::string painted_level(Level level) const {
    const std::string_view code = level == Level::kError     ? "1;31"
                                  : level == Level::kWarning ? "1;35"
                                                             : "1;36";
    return painted(fmt::format("{}:", name(level)), code);
  }

  void open_finding(const Finding& finding) {
    const std::string possible = finding.certainty == Certainty::kPossible ? "possibly: " : "";
    out_ << fmt::format("{} {} {}{} [{}]\n", painted(shown_place(finding.location) + ":", "1"),
                        painted_level(finding.level), possible, printable(finding.message),
                        printable(finding.rule));
    shown_ = &finding.location;
    out_ << snippets_.of(finding.location);
    for (const PathStep& step : finding.path) path_step(step);
    for (const Sink& sink : finding.sinks) {
      if (!ends_at(finding.path, sink)) {
        note(sink.location, fmt::format("reaches {} as {} here", sink.api, sink.role));
      }
    }
    for (const Fix& fix : finding.fixes) out_ << "  fix: " << printable(fix.title) << '\n';
    facts(finding);
    operands(finding.operands);
    backtrace("", finding.backtrace);
    for (const Stack& stack : finding.stacks) backtrace(stack.kind, stack.backtrace);
    occurrences(finding);
  }

  void note(const SourceLocation& location, const std::string& text) {
    out_ << fmt::format("{} {} {}\n", painted(shown_place(location) + ":", "1"), painted_level(Level::kNote),
                        printable(text));
    const bool same_line = shown_ != nullptr && shown_->file == location.file &&
                           shown_->line == location.line && shown_->column == location.column;
    if (!same_line) out_ << snippets_.of(location);
    shown_ = &location;
  }

  // The path's last step is the call itself: said once.
  static bool ends_at(const std::vector<PathStep>& path, const Sink& sink) {
    if (path.empty()) return false;
    const SourceLocation& last = path.back().location;
    return last.file == sink.location.file && last.line == sink.location.line &&
           last.column == sink.location.column;
  }

  void path_step(const PathStep& step) {
    std::string text = step.note.empty() ? step.op : step.note;
    if (!step.before.empty() && !step.after.empty() && step.before != step.after) {
      text += fmt::format(" ({} -> {})", step.before, step.after);
    } else if (!step.after.empty()) {
      text += fmt::format(" ({})", step.after);
    }
    note(step.location, text);
    frames(step.backtrace);
  }

  // The path ends at one operand of the call. The same edit mends these too.
  void other_operands(const Finding& finding) {
    std::vector<std::string> roles;
    for (const Sink& sink : finding.sinks) {
      if (!ends_at(finding.path, sink)) continue;
      const std::string& told = finding.path.back().note;
      if (told.starts_with(fmt::format("reaches '{}' of", sink.role)) ||
          told.starts_with(fmt::format("'{}' ", sink.role)))
        continue;
      roles.push_back(fmt::format("'{}'", sink.role));
    }
    fact("also reaches", roles);
  }

  void facts(const Finding& finding) {
    other_operands(finding);
    fact("precision settings", finding.precision);
    fact("torch versions", finding.torch);
    fact("also breaks", finding.also_rules);
    if (!finding.runtime.empty() && finding.runtime != "unknown") fact("at run time", {finding.runtime});
  }

  void fact(std::string_view label, const std::vector<std::string>& values) {
    if (!values.empty())
      out_ << fmt::format("  {}: {}\n", label, printable(fmt::format("{}", fmt::join(values, ", "))));
  }

  void operands(const std::vector<FindingOperand>& operands) {
    if (operands.empty()) return;
    std::vector<std::vector<std::string>> rows = {{"operand", "dtype", "accepted", "shape", "device"}};
    for (const FindingOperand& operand : operands) {
      rows.push_back({operand.role, listed(operand.dtypes, "or"), listed(operand.accepts, "or"),
                      fmt::format("{}", fmt::join(operand.shape, "x")), operand.device});
    }
    table(rows);
  }

  // Columns that are empty in every row below the heading are left out.
  void table(std::vector<std::vector<std::string>> rows) {
    for (std::vector<std::string>& row : rows) {
      for (std::string& cell : row) cell = printable(cell);
    }
    std::vector<std::size_t> widths(rows.front().size(), 0);
    for (std::size_t c = 0; c < widths.size(); ++c) {
      for (std::size_t r = 1; r < rows.size(); ++r) widths[c] = std::max(widths[c], rows[r][c].size());
      if (widths[c] > 0) widths[c] = std::max(widths[c], rows[0][c].size());
    }
    for (const std::vector<std::string>& row : rows) {
      std::string line;
      for (std::size_t c = 0; c < widths.size(); ++c) {
        if (widths[c] > 0) line += fmt::format("  {:<{}}", row[c], widths[c]);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      out_ << line << '\n';
    }
  }

  void backtrace(std::string_view kind, const std::vector<StackFrame>& stack) {
    if (stack.empty()) return;
    out_ << (kind.empty() ? "  called from" : fmt::format("  {} stack", kind)) << '\n';
    frames(stack);
  }

  void frames(const std::vector<StackFrame>& stack) {
    for (const FrameRow& row : shown_frames(stack, options_.frames)) {
      if (row.frame == nullptr) {
        out_ << fmt::format("    #{} {} (--frames all shows them)\n", row.first, printable(folded_text(row)));
        continue;
      }
      const StackFrame& frame = *row.frame;
      const std::string function = frame.function.empty() ? "??" : frame.function;
      std::string where;
      if (!frame.file.empty()) {
        where = fmt::format(" at {}{}", frame.file, frame.line > 0 ? fmt::format(":{}", frame.line) : "");
      } else if (!frame.module.empty()) {
        where = fmt::format(" in {} (+{:#x})", frame.module, frame.offset);
      }
      out_ << fmt::format("    #{} {}{}\n", row.first, printable(function), printable(where));
    }
  }

  // A job of a thousand ranks is not listed line by line; the JSON report has all.
  static constexpr std::size_t kNamed = 8;

  void occurrences(const Finding& finding) {
    if (finding.count > 1) out_ << fmt::format("  seen {} times\n", finding.count);
    if (finding.occurrences.empty()) return;
    std::size_t left = kNamed;
    for (const Occurrence& occurrence : finding.occurrences) {
      if (left-- == 0) {
        out_ << fmt::format("    and in {} more processes\n", finding.occurrences.size() - kNamed);
        break;
      }
      const std::string rank = occurrence.rank ? fmt::format("rank {}, ", *occurrence.rank) : "";
      const std::string thread = occurrence.thread != 0 ? fmt::format(", thread {}", occurrence.thread) : "";
      const std::string first =
          occurrence.first_seen.empty() ? "" : fmt::format(", first at {}", occurrence.first_seen);
      out_ << fmt::format("    {}pid {} on {}{}{}: {}\n", rank, occurrence.pid, printable(occurrence.host),
                          thread, printable(first), plural(occurrence.count, "time"));
    }
  }

  void suppressed(const Finding& finding) {
    const std::string& reason = finding.suppression->reason;
    out_ << fmt::format("{}: suppressed: {} [{}]{}\n", shown_place(finding.location),
                        printable(finding.message), printable(finding.rule),
                        reason.empty() ? " (no reason given)" : ": " + printable(reason));
  }

  // What each process of a job has to say, and why no C++ file of a folder is read, is said once, and how
  // often.
  static bool is_of_many(const NotAnalysed& entry) {
    return entry.function.empty() &&
           (entry.reason == "note" || entry.reason == "exec" || entry.reason == "no-database");
  }

  // What the exit status speaks of is never left unsaid.
  void failures() {
    for (const NotAnalysed& entry : report_.not_analysed)
      if (is_failure(entry)) not_analysed(entry);
  }

  void not_analysed() {
    std::map<std::pair<std::string_view, std::string_view>, std::size_t> equals;
    for (const NotAnalysed& entry : report_.not_analysed)
      if (is_of_many(entry)) ++equals[{entry.reason, entry.detail}];
    for (const NotAnalysed& entry : report_.not_analysed) {
      if (!is_of_many(entry)) {
        not_analysed(entry);
        continue;
      }
      std::size_t& times = equals[{entry.reason, entry.detail}];
      if (times == 0) continue;
      not_analysed(entry);
      if (times > 1) out_ << fmt::format("    and {} more of the kind\n", times - 1);
      times = 0;
    }
  }

  void not_analysed(const NotAnalysed& entry) {
    const std::string function = entry.function.empty() ? "" : fmt::format(" ({})", entry.function);
    if (entry.reason == kUndecided) {  // the file was analysed, and the detail opens with the call's place
      out_ << fmt::format("{}{}\n", printable(entry.detail), printable(function));
      return;
    }
    const std::string detail = entry.detail.empty() ? "" : ": " + entry.detail;
    out_ << fmt::format("{}{}: {}{}{}\n", printable(entry.file), printable(function), before_reason(entry),
                        printable(entry.reason), printable(detail));
  }

  static std::string end(const WatchedProcess& process) {
    const std::string start = process.joined ? " (joined while it ran)" : "";
    if (!process.replaced_by.empty())
      return start + fmt::format(" (became '{}' by exec{})", printable_command(process.replaced_by),
                                 process.complete ? "" : ": counts may be low");
    if (process.complete) return start;
    // There only the calls of objects that were loaded then are hooked.
    return start +
           (process.joined
                ? " (no closing record: it runs on, or ended by a signal, or by an _exit or exec that "
                  "was not seen. Counts may be low, and what it became by exec was not watched)"
                : " (ended without its closing record: counts may be low)");
  }

  void watched(const Watched& watched) {
    std::size_t left = kNamed;
    for (const WatchedProcess& process : watched.processes) {
      if (left-- == 0) {
        const auto incomplete =
            std::count_if(watched.processes.begin() + kNamed, watched.processes.end(),
                          [](const WatchedProcess& one) { return !one.complete && one.replaced_by.empty(); });
        out_ << fmt::format(
            "watched: {} more processes{}\n", watched.processes.size() - kNamed,
            incomplete == 0 ? "" : fmt::format(", {} ended without their closing record", incomplete));
        break;
      }
      out_ << fmt::format("watched: pid {} on {}: {}{}\n", process.pid, printable(process.host),
                          printable_command(process.command), end(process));
    }
    for (const WatchedLibrary& library : watched.libraries) {
      out_ << fmt::format("library: {} {}\n", printable(library.name), printable(library.path));
    }
    for (const WatchedSource& source : watched.sources) {
      const std::string why = source.why.empty() ? "" : fmt::format(" ({})", source.why);
      out_ << fmt::format("source: {} {}{}\n", printable(source.name), source.on ? "on" : "off",
                          printable(why));
    }
    std::uint64_t hook_us = 0;
    for (const WatchedProcess& process : watched.processes) hook_us += process.hook_us;
    if (hook_us > 0)
      out_ << fmt::format("hooks: {:.1f} ms spent in records\n", static_cast<double>(hook_us) / 1000);
    for (const auto& [api, calls] : watched.calls) {
      if (calls > 0) out_ << fmt::format("calls: {} {}\n", printable(api), calls);
    }
  }

  void summary(const Summary& summary) {
    std::vector<std::string> parts;
    if (summary.errors > 0) parts.push_back(plural(summary.errors, "error"));
    if (summary.warnings > 0) parts.push_back(plural(summary.warnings, "warning"));
    if (summary.notes > 0) parts.push_back(plural(summary.notes, "note"));
    if (parts.empty()) parts.emplace_back("no findings");
    if (summary.suppressed > 0) parts.push_back(fmt::format("{} suppressed", summary.suppressed));
    if (summary.unchanged > 0) parts.push_back(fmt::format("{} in the baseline", summary.unchanged));
    if (summary.fixed > 0) parts.push_back(fmt::format("{} fixed", summary.fixed));
    out_ << fmt::format("{}; {}\n", fmt::join(parts, ", "), scope(summary));
  }

  // "No findings" means little without what was looked at.
  std::string scope(const Summary& summary) const {
    if (report_.watched) {
      return (summary.calls == 0 ? "no call to a watched kernel was seen"
                                 : fmt::format("{} to watched kernels", plural(summary.calls, "call"))) +
             not_seen(report_);
    }
    return sight(report_) + "; " + plural(summary.files, "file") + " analysed" + left_out(report_);
  }

  std::ostream& out_;
  const Report& report_;
  const TextOptions& options_;
  SourceSnippets snippets_;
  const SourceLocation* shown_ = nullptr;  // whose source line stands right above
};

}  // namespace

void write_text(std::ostream& out, const Report& report, const TextOptions& options) {
  TextWriter(out, report, options).write();
}

}  // namespace dtype_guard
