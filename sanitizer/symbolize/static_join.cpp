#include "sanitizer/symbolize/static_join.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>

namespace dtype_guard::san {

namespace {

namespace fs = std::filesystem;

std::string absolute_file(const std::string& file, const std::string& root) {
  if (file.empty()) return "";
  const fs::path path = file;
  return (path.is_absolute() ? path : fs::path(root) / path).lexically_normal().string();
}

// Static findings name functions without their namespaces' details and parameters; compare what both have.
std::string plain_function(const std::string& function) {
  std::string name = function.substr(0, function.find('('));
  const std::size_t scope = name.rfind("::");
  return scope == std::string::npos ? name : name.substr(scope + 2);
}

// The function whose body it stands in: a comprehension is a function of its own in some releases.
std::string without_comprehensions(std::string function) {
  constexpr std::string_view kLocal = ".<locals>.";
  for (;;) {
    const std::size_t at = function.rfind(kLocal);
    if (at == std::string::npos) return function;
    const std::string_view last = std::string_view(function).substr(at + kLocal.size());
    if (last != "<listcomp>" && last != "<genexpr>" && last != "<dictcomp>" && last != "<setcomp>")
      return function;
    function.resize(at);
  }
}

// Both tools spell a Python function as co_qualname does, so that two classes of a file are told apart;
// CPython 3.10 has the name alone, and there the line has to agree too.
bool same_python_function(const StackFrame& frame, const Sink& sink) {
  const std::string seen = without_comprehensions(frame.function);
  const std::string told = without_comprehensions(sink.location.function);
  const bool is_bare = seen.find('.') == std::string::npos && told.ends_with("." + seen);
  return seen == told || (is_bare && frame.line == sink.location.line);
}

// How well a stack fits a sink: 0 not at all, 1 by function, 2 by line too.
int fit(const Sink& sink, const std::string& sink_root, const std::vector<StackFrame>& stack,
        const std::string& stack_root) {
  int best = 0;
  for (const StackFrame& frame : stack) {
    if (frame.file.empty() ||
        absolute_file(frame.file, stack_root) != absolute_file(sink.location.file, sink_root))
      continue;
    if (frame.language == "python" && !same_python_function(frame, sink)) continue;
    if (frame.line == sink.location.line) return 2;
    if (frame.language == "python" ||
        plain_function(frame.function) == plain_function(sink.location.function))
      best = 1;
  }
  return best;
}

class Join {
 public:
  Join(Report& report, const Report& lint, const std::vector<AcceptedCall>& accepted)
      : report_(report), lint_(lint), accepted_(accepted), runtime_count_(report.findings.size()) {}

  void run() {
    for (const Finding& finding : lint_.findings) {
      if (finding.baseline == "fixed") continue;
      Finding joined = finding;
      joined.runtime = confirm(joined) ? "confirmed" : judge(joined);
      relocate(joined);
      report_.findings.push_back(std::move(joined));
    }
    std::size_t at = 0;
    std::erase_if(report_.findings, [&](const Finding&) { return confirmed_.count(at++) != 0; });
    for (const NotAnalysed& skipped : lint_.not_analysed) report_.not_analysed.push_back(skipped);
    report_.files_analysed += lint_.files_analysed;
  }

 private:
  bool confirm(Finding& finding) {
    const Finding* best = nullptr;
    int best_fit = 0;
    for (std::size_t i = 0; i < runtime_count_; ++i) {
      const Finding& seen = report_.findings[i];
      for (const Sink& sink : finding.sinks) {
        if (sink.api != seen.api) continue;
        const int how_well = fit(sink, lint_.root, seen.backtrace, report_.root);
        if (how_well == 0) continue;
        confirmed_.insert(i);
        if (how_well > best_fit) {
          best = &seen;
          best_fit = how_well;
        }
      }
    }
    if (best == nullptr) return false;
    finding.observed = {"static", "runtime"};
    finding.backtrace = best->backtrace;
    finding.occurrences = best->occurrences;
    finding.count = best->count;
    finding.device = best->device;  // the static one was only assumed
    for (FindingOperand& operand : finding.operands) take_over(operand, best->operands);
    return true;
  }

  static void take_over(FindingOperand& operand, const std::vector<FindingOperand>& seen) {
    for (const FindingOperand& one : seen) {
      if (one.role != operand.role) continue;
      operand.shape = one.shape;
      operand.device = one.device;
    }
  }

  std::string judge(const Finding& finding) const {
    bool watched = false;
    for (const Sink& sink : finding.sinks) {
      const auto calls = report_.watched ? report_.watched->calls.find(sink.api)
                                         : std::map<std::string, std::uint64_t>::const_iterator();
      if (!report_.watched || calls == report_.watched->calls.end()) continue;
      watched = true;
      for (const AcceptedCall& call : accepted_) {
        if (call.api == sink.api && fit(sink, lint_.root, call.stack, report_.root) != 0)
          return "contradicted";
      }
    }
    return watched && is_whole() && all_placed(finding) ? "not_reached" : "unknown";
  }

  // Every watched process was watched from its start to its end, and nothing that it told is missing.
  bool is_whole() const {
    const auto& processes = report_.watched->processes;
    const auto is_known = [](const WatchedProcess& one) { return one.complete && !one.joined; };
    const auto says_nothing = [](const NotAnalysed& entry) { return entry.reason == "ranks-differ"; };
    return !processes.empty() && std::all_of(processes.begin(), processes.end(), is_known) &&
           std::all_of(report_.not_analysed.begin(), report_.not_analysed.end(), says_nothing);
  }

  // The caller's line is known: of a call that is written in Python behind the frames of the library that it
  // goes through.
  static bool is_placed(const std::vector<StackFrame>& stack, const Sink& sink) {
    const bool has_file = !stack.empty() && !stack.front().file.empty();
    return has_file || (sink.location.file.ends_with(".py") &&
                        std::any_of(stack.begin(), stack.end(), [](const StackFrame& frame) {
                          return frame.language == "python" && !frame.file.empty();
                        }));
  }

  // Of each API that was called, the places are known, and have lines.
  bool all_placed(const Finding& finding) const {
    return std::all_of(finding.sinks.begin(), finding.sinks.end(), [&](const Sink& sink) {
      const auto calls = report_.watched->calls.find(sink.api);
      if (calls == report_.watched->calls.end() || calls->second == 0) return true;
      std::size_t places = 0, placed = 0;
      for (const AcceptedCall& call : accepted_)
        if (call.api == sink.api) ++places, placed += is_placed(call.stack, sink) ? 1U : 0U;
      for (std::size_t i = 0; i < runtime_count_; ++i)
        if (const Finding& seen = report_.findings[i]; seen.api == sink.api)
          ++places, placed += is_placed(seen.backtrace, sink) ? 1U : 0U;
      return places != 0 && places == placed;
    });
  }

  // The joined report has one root: the run's.
  void relocate(Finding& finding) const {
    if (lint_.root == report_.root) return;
    const auto shown = [&](std::string& file) {
      if (file.empty()) return;
      const std::string whole = absolute_file(file, lint_.root);
      const std::string relative = fs::path(whole).lexically_relative(report_.root).string();
      file = relative.empty() || relative.starts_with("..") ? whole : relative;
    };
    shown(finding.location.file);
    for (Sink& sink : finding.sinks) shown(sink.location.file);
    for (PathStep& step : finding.path) shown(step.location.file);
    for (Fix& fix : finding.fixes) {
      for (Edit& edit : fix.edits) shown(edit.range.file);
    }
  }

  Report& report_;
  const Report& lint_;
  const std::vector<AcceptedCall>& accepted_;
  std::size_t runtime_count_;
  std::set<std::size_t> confirmed_;  // run-time findings that a static one has taken over
};

}  // namespace

void join_static(Report& report, const Report& lint, const std::vector<AcceptedCall>& accepted) {
  Join(report, lint, accepted).run();
  normalise(report);
}

}  // namespace dtype_guard::san
