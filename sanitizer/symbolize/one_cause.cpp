#include "sanitizer/symbolize/one_cause.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

#include "sanitizer/symbolize/opening.h"
#include "sanitizer/symbolize/stacks.h"

namespace dtype_guard::san {
namespace {

// The operator that is to blame, where one widened; nullptr for all else (a cast, a factory, an unknown
// origin), which may be meant for one of the calls and not for another.
const PathStep* cause(const Finding& finding) {
  if (finding.observed != std::vector<std::string>{"runtime"}) return nullptr;
  const PathStep* step = opening_step(finding);
  return step != nullptr && is_widening(*step) ? step : nullptr;
}

bool same_place(const SourceLocation& a, const SourceLocation& b) {
  return std::tie(a.file, a.line, a.function) == std::tie(b.file, b.line, b.function);
}

// Of code that was generated the place is that of the function from which it was: its own line tells its
// operators apart, and not the name, which has a number that each graph has anew.
int generated_line(const PathStep& step) {
  const StackFrame* code = generated_code(step.backtrace);
  return code != nullptr ? code->line : 0;
}

// The line that is to be edited tells causes apart, not the callers of its function, which may be many: a
// worker and its parent, a forward call and what a checkpoint runs again. Where no line is known the stack
// does.
bool same_cause(const PathStep& a, const PathStep& b) {
  if (std::tie(a.op, a.before, a.after) != std::tie(b.op, b.before, b.after)) return false;
  return a.location.line != 0 ? same_place(a.location, b.location) && generated_line(a) == generated_line(b)
                              : same_stack(a.backtrace, b.backtrace);
}

template <typename T>
void add_once(std::vector<T>& to, const T& value) {
  if (std::find(to.begin(), to.end(), value) == to.end()) to.push_back(value);
}

void add_stack(Finding& kept, Stack&& more) {
  const auto is_same = [&](const Stack& one) {
    return one.kind == more.kind && same_stack(one.backtrace, more.backtrace);
  };
  if (same_stack(kept.backtrace, more.backtrace) ||
      std::any_of(kept.stacks.begin(), kept.stacks.end(), is_same))
    return;
  kept.stacks.push_back(std::move(more));
}

void take_over(Finding& kept, Finding&& more) {
  if (more.level < kept.level) std::swap(kept, more);
  if (more.rule != kept.rule) add_once(kept.also_rules, more.rule);
  for (const std::string& rule : more.also_rules)
    if (rule != kept.rule) add_once(kept.also_rules, rule);
  for (const Sink& sink : more.sinks) {
    const auto same = [&](const Sink& one) {
      return std::tie(one.api, one.role, one.location.file, one.location.line) ==
             std::tie(sink.api, sink.role, sink.location.file, sink.location.line);
    };
    if (std::none_of(kept.sinks.begin(), kept.sinks.end(), same)) kept.sinks.push_back(sink);
  }
  add_stack(kept, {"call", std::move(more.backtrace)});
  for (Stack& stack : more.stacks) add_stack(kept, std::move(stack));
  kept.count += more.count;
  for (const Occurrence& occurrence : more.occurrences) merge_occurrence(kept, occurrence);
}

bool reads_alike(const PathStep& a, const PathStep& b) {
  return std::tie(a.op, a.before, a.after, a.note) == std::tie(b.op, b.before, b.after, b.note) &&
         same_place(a.location, b.location);
}

bool reads_alike(const Sink& a, const Sink& b) {
  return a.api == b.api && a.role == b.role && same_place(a.location, b.location);
}

// Whether these differ in nothing but the callers of the function that their line is in.
bool is_one_line(const Finding& a, const Finding& b) {
  const auto is_known = [](const Finding& one) {
    return one.observed == std::vector<std::string>{"runtime"} && opening_step(one) != nullptr &&
           one.location.line != 0;
  };
  return is_known(a) && is_known(b) && a.rule == b.rule && a.message == b.message &&
         same_place(a.location, b.location) &&
         std::equal(a.sinks.begin(), a.sinks.end(), b.sinks.begin(), b.sinks.end(),
                    [](const Sink& x, const Sink& y) { return reads_alike(x, y); }) &&
         std::equal(a.path.begin(), a.path.end(), b.path.begin(), b.path.end(),
                    [](const PathStep& x, const PathStep& y) { return reads_alike(x, y); });
}

bool same_operands(const Finding& a, const Finding& b) {
  return std::equal(a.operands.begin(), a.operands.end(), b.operands.begin(), b.operands.end(),
                    [](const FindingOperand& x, const FindingOperand& y) {
                      return x.role == y.role && x.dtypes == y.dtypes;
                    });
}

// The stack from the caller of the API on, whatever of PyTorch's lies between that and where the call was
// seen.
std::vector<StackFrame> from_call(const Finding& finding) {
  const auto is_call = [&](const StackFrame& frame) {
    return std::any_of(finding.sinks.begin(), finding.sinks.end(), [&](const Sink& sink) {
      return sink.location.line != 0 && sink.location.line == frame.line && sink.location.file == frame.file;
    });
  };
  const std::vector<StackFrame>& frames = finding.backtrace;
  return {std::find_if(frames.begin(), frames.end(), is_call), frames.end()};
}

void merge_without_origin(std::vector<Finding>& findings) {
  for (std::size_t i = 0; i < findings.size();) {
    const auto known = std::find_if(findings.begin(), findings.end(), [&](const Finding& one) {
      return is_without_its_origin(findings[i], one);
    });
    if (known == findings.end()) {
      ++i;
      continue;
    }
    take_over(*known, std::move(findings[i]));
    findings.erase(findings.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace

bool is_without_its_origin(const Finding& finding, const Finding& known) {
  if (opening_step(finding) != nullptr || opening_step(known) == nullptr || finding.rule != known.rule ||
      finding.api != known.api || !same_operands(finding, known))
    return false;
  const std::vector<StackFrame> own = from_call(finding);
  return !own.empty() && same_stack(own, from_call(known));
}

void merge_causes(std::vector<Finding>& findings) {
  merge_without_origin(findings);
  std::vector<Finding> merged;
  for (Finding& finding : findings) {
    const PathStep* own = cause(finding);
    const auto known = std::find_if(merged.begin(), merged.end(), [&](const Finding& one) {
      const PathStep* other = own != nullptr ? cause(one) : nullptr;
      return other != nullptr ? same_cause(*own, *other) : is_one_line(one, finding);
    });
    if (known == merged.end())
      merged.push_back(std::move(finding));
    else
      take_over(*known, std::move(finding));
  }
  findings = std::move(merged);
}

void merge_occurrence(Finding& known, const Occurrence& more) {
  for (Occurrence& one : known.occurrences) {
    if (one.pid != more.pid || one.host != more.host) continue;
    one.count += more.count;
    one.first_seen = std::min(one.first_seen, more.first_seen);
    return;
  }
  known.occurrences.push_back(more);
}

bool same_stack(const std::vector<StackFrame>& a, const std::vector<StackFrame>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const StackFrame& x, const StackFrame& y) {
    return x.function == y.function && x.file == y.file && x.line == y.line && x.module == y.module &&
           x.offset == y.offset;
  });
}

}  // namespace dtype_guard::san
