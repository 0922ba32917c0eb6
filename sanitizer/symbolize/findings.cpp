#include "sanitizer/symbolize/findings.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <set>
#include <string_view>

#include "dtype_san_version.h"
#include "rules/contracts/contract.h"
#include "sanitizer/protocol/journal.h"
#include "sanitizer/symbolize/cast_findings.h"
#include "sanitizer/symbolize/implied_dtype.h"
#include "sanitizer/symbolize/launch_findings.h"
#include "sanitizer/symbolize/one_cause.h"
#include "sanitizer/symbolize/opening.h"
#include "sanitizer/symbolize/rank_differences.h"
#include "sanitizer/symbolize/refused_sources.h"
#include "sanitizer/symbolize/stacks.h"
#include "sanitizer/symbolize/static_join.h"
#include "sanitizer/symbolize/unknown_origin.h"
#include "sanitizer/symbolize/unseen_calls.h"
#include "sanitizer/symbolize/violation.h"

namespace dtype_guard::san {
namespace {

std::string time_text(std::uint64_t ns) {
  auto seconds = static_cast<std::time_t>(ns / 1000000000U);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(seconds), ns / 1000000U % 1000U);
}

std::string device_text(const JournalOperand& operand) {
  switch (operand.device_type) {
    case 1:
      return "cpu";
    case 2:
      return fmt::format("cuda:{}", operand.device_id);
    case 3:
      return "cpu";  // pinned host memory
    case 10:
      return fmt::format("rocm:{}", operand.device_id);
    case 13:
      return fmt::format("cuda:{}", operand.device_id);  // managed memory
    default:
      return fmt::format("dlpack{}:{}", operand.device_type, operand.device_id);
  }
}

std::vector<std::string> names(DtypeSet set) {
  std::vector<std::string> result;
  for (Dtype dtype : all_dtypes())
    if (set.contains(dtype)) result.emplace_back(name(dtype));
  return result;
}

class Builder {
 public:
  explicit Builder(const ReportSettings& settings)
      : settings_(settings),
        stacks_({settings.root, settings.strip_path_prefix, settings.symbolize, settings.sysroot}) {
    report_.tool = "dtype-san";
    report_.tool_version = DTYPE_SAN_VERSION;
    report_.root = settings.root;
    report_.watched.emplace();
    for (const Api& api : builtin_contracts().apis)
      if (api.library == "flash_ref") report_.watched->calls[api.name] = 0;
    for (const Api& api : settings.own_contracts.apis) report_.watched->calls[api.name] = 0;
#define DTYPE_SAN_SOURCE(id, on, text) report_.watched->sources.push_back({#id, on, text});
#include "sanitizer/sources/sources.inc"
#undef DTYPE_SAN_SOURCE
  }

  // `next` is what the process became by exec, if anything.
  void add(const Journal& journal, const Journal* next) {
    for (const std::string& problem : journal.problems)
      report_.not_analysed.push_back({journal.file, "", "unreadable", problem});
    for (const std::string& note : journal.notes)
      report_.not_analysed.push_back({journal.file, "", "note", note});
    for (const auto& [function, count] : journal.unseen)
      report_.not_analysed.push_back(unseen_entry(journal, function, count));
    if (const std::uint64_t beyond = journal.unrecorded - journal.lost; beyond != 0)
      report_.not_analysed.push_back(
          {journal.file, "", "budget",
           fmt::format("{} further distinct findings were not recorded (option max_findings)", beyond)});
    if (journal.lost != 0)
      report_.not_analysed.push_back(
          {journal.file, "", "lost",
           fmt::format("{} distinct findings could not be recorded: {}", journal.lost, journal.loss_reason)});
    add_watched(journal, next);
    for (const JournalFinding& finding : journal.findings) add_finding(journal, finding);
    for (const auto& [number, site] : journal.sites) add_site(journal, site);
    for (const JournalLaunch& launch : journal.launches) add_launch(journal, launch);
    for (CastFinding& found : cast_findings(journal)) {
      const std::string role = found.finding.operands.front().role;
      add_launched(journal, found.first->place, std::move(found.finding), role);
    }
  }

  Report finish(const std::vector<NotAnalysed>& of_all_processes) {
    for (const NotAnalysed& entry : of_all_processes) report_.not_analysed.push_back(entry);
    for (const RankDifference& one : rank_differences(rank_calls_))
      report_.not_analysed.push_back(
          {one.place, "", "ranks-differ", fmt::format("{}: {}", one.api, one.detail)});
    if (settings_.lint) join_static(report_, *settings_.lint, accepted_);
    unknown_origins_.tell(report_);
    merge_causes(report_.findings);
    for (const std::string& refused : stacks_.refused())
      report_.not_analysed.push_back({refused.substr(0, refused.find(": ")), "", "changed-binary",
                                      refused.substr(refused.find(": ") + 2)});
    if (report_.watched->processes.empty())
      for (WatchedSource& source : report_.watched->sources)
        if (source.on) source = {source.name, false, "no process was watched"};
    normalise(report_);
    return std::move(report_);
  }

 private:
  void add_watched(const Journal& journal, const Journal* next) {
    Watched& watched = *report_.watched;
    if (journal.process)
      watched.processes.push_back({journal.process->pid, journal.process->command, journal.process->host,
                                   journal.closed || journal.exec, (journal.hook_ns + 999) / 1000,
                                   next != nullptr ? next->process->command : journal.exec.value_or(""),
                                   journal.process->joined});
    if (journal.exec && next == nullptr)
      report_.not_analysed.push_back(
          {journal.file, "", "exec",
           fmt::format("the process became '{}' by exec, and that left no journal: it called nothing that is "
                       "watched, or the library did not enter it",
                       *journal.exec)});
    for (const auto& [api, count] : journal.calls) watched.calls[api] += count;
    for (const JournalSource& source : journal.sources) add_source(journal, source);
    for (const JournalLibrary& library : journal.libraries)
      add_library(journal, library.name, library.module);
    for (const JournalKernel& kernel : journal.kernels) {
      const Api* api = contract(kernel.api);
      add_library(journal, api != nullptr ? api->library : kernel.api, kernel.module);
    }
  }

  // A source that was on in any process is on; one that was off everywhere says why.
  void add_source(const Journal& journal, const JournalSource& source) {
    for (WatchedSource& known : report_.watched->sources) {
      if (known.name != source.name || (known.on && !source.on)) continue;
      std::string why = source.reason;
      const bool has_launches = source.name == kLaunchSource && !journal.launches.empty();
      if (source.on && why.empty())
        why = source.name == kLaunchSource ? describe_launches(journal.launches) : known.why;
      if (!source.on && has_launches) why += "; before that " + describe_launches(journal.launches);
      if (source.graph_nodes != 0)
        why += fmt::format("; {} graph nodes created, {} graph launches", source.graph_nodes,
                           source.graph_launches);
      known.on = known.on || source.on;
      known.why = std::move(why);
    }
  }

  // A call that was accepted: evidence for a static report, and for what other ranks do at the same place.
  void add_site(const Journal& journal, const JournalFinding& site) {
    const bool has_rank = journal.process && journal.process->rank;
    if (!settings_.lint && !has_rank) return;
    AcceptedCall call{site.api, stacks_.resolve(journal, site)};
    if (has_rank) add_rank_call(journal, site, stacks_.place_of(call.stack));
    if (settings_.lint) accepted_.push_back(std::move(call));
  }

  void add_rank_call(const Journal& journal, const JournalFinding& call, const SourceLocation& place) {
    if (!journal.process || !journal.process->rank || place.file.empty()) return;
    RankCall seen{*journal.process->rank, call.api, fmt::format("{}:{}", place.file, place.line), {}};
    for (const JournalOperand& operand : call.operands)
      if ((operand.flags & kOperandPresent) != 0) seen.dtypes[operand.role] = dtype_text(operand.packed);
    rank_calls_.push_back(std::move(seen));
  }

  void add_launch(const Journal& journal, const JournalLaunch& launch) {
    std::optional<Finding> finding = launch_finding(launch, settings_.filter.expected_backend());
    if (!finding) return;
    const std::string role = finding->operands.empty() ? "q" : finding->operands.front().role;
    add_launched(journal, launch.place, std::move(*finding), role);
  }

  void add_launched(const Journal& journal, const JournalFinding& recorded, Finding finding,
                    const std::string& role) {
    finding.backtrace = without_cuda(stacks_.resolve(journal, recorded));
    finding.location = stacks_.place_of(finding.backtrace);
    finding.sinks.push_back({finding.api, role, finding.location});
    finding.fingerprint = fingerprint({finding.rule, finding.location.function, "", finding.api, 0});
    finding.occurrences.push_back(occurrence(journal, recorded));
    finding.occurrences.back().count = finding.count;
    merge(std::move(finding));
  }

  void add_library(const Journal& journal, const std::string& name, std::uint32_t number) {
    auto module = journal.modules.find(number);
    if (module != journal.modules.end() && libraries_.insert(module->second.path).second)
      report_.watched->libraries.push_back({name, module->second.path});
  }

  const Api* contract(const std::string& name) const {
    const Api* own = settings_.own_contracts.find(name);
    return own != nullptr ? own : builtin_contracts().find(name);
  }

  void add_finding(const Journal& journal, JournalFinding recorded) {
    if (!is_torch_operator(recorded.api)) settle_masks(recorded.operands);
    const Api* api = contract(recorded.api);
    const bool is_implied = is_implied_dtype(journal, recorded);
    Violation violation =
        is_implied ? describe_implied_dtype(journal, recorded)
                   : describe_violation(recorded, api != nullptr ? api->kind : ApiKind::kAttention);
    Finding finding;
    if (is_implied) finding.level = Level::kWarning;
    finding.rule = violation.rule;
    finding.also_rules = violation.also_rules;
    finding.message = violation.message;
    finding.observed = {"runtime"};
    finding.api = recorded.api;
    finding.count = recorded.count;
    for (const JournalOperand& operand : recorded.operands) add_operand(finding, operand);
    finding.backtrace = stacks_.resolve(journal, recorded);
    finding.location = stacks_.place_of(finding.backtrace);
    add_rank_call(journal, recorded, finding.location);
    for (const std::string& role : violation.roles)
      finding.sinks.push_back({recorded.api, role, finding.location});
    // The kernel and role stand for the operator that a static finding names: a run does not see it.
    finding.fingerprint = fingerprint({finding.rule, finding.location.function, "", recorded.api, 0});
    finding.occurrences.push_back(occurrence(journal, recorded));
    add_origins(finding, journal, recorded, violation.roles);
    add_forward(finding, journal, recorded);
    unknown_origins_.note(finding, journal, recorded, violation.roles, stacks_);
    if (api != nullptr && is_stood_in(journal, api->library))
      finding.message += fmt::format("; '{}' is stood in for here, and did not run itself", api->library);
    merge(std::move(finding));
  }

  static void add_operand(Finding& finding, const JournalOperand& operand) {
    if ((operand.flags & kOperandPresent) == 0) return;
    FindingOperand result;
    result.role = operand.role;
    result.dtypes = {dtype_text(operand.packed)};
    result.accepts = names(operand.accepts);
    result.shape = operand.shape;
    result.device = device_text(operand);
    if (finding.device.empty()) finding.device = result.device;
    finding.operands.push_back(std::move(result));
  }

  // The calls that wrote the operands, oldest first, each chain once.
  void add_origins(Finding& finding, const Journal& journal, const JournalFinding& recorded,
                   const std::vector<std::string>& blamed) {
    for (const JournalOrigin& origin : recorded.origins) {
      const std::string& role = recorded.operands[origin.operand].role;
      if (std::find(blamed.begin(), blamed.end(), role) == blamed.end() &&
          !is_widened(journal, recorded, origin))
        continue;
      std::optional<std::size_t> last;
      const std::vector<std::uint32_t> way = way_from_origin(journal.sites, origin.sites);
      for (const std::uint32_t site : way) last = step_index(finding, journal, origin.sites, site);
      auto operand = std::find_if(finding.operands.begin(), finding.operands.end(),
                                  [&](const FindingOperand& one) { return one.role == role; });
      if (operand != finding.operands.end()) operand->origin = last;
      if (!last || way.back() != origin.sites.front()) continue;
      std::vector<std::string> roles;  // all that the step gave their dtype
      for (const FindingOperand& one : finding.operands)
        if (one.origin == last) roles.push_back(one.role);
      finding.path[*last].note = step_of(journal, origin.sites, way.back(), roles).note;
    }
    if (!finding.path.empty()) finding.location = opening(finding);
  }

  // Of a backward call: which forward call it belongs to, behind the way of its operands.
  void add_forward(Finding& finding, const Journal& journal, const JournalFinding& recorded) {
    if (recorded.forward == 0) return;
    const auto site = journal.sites.find(recorded.forward);
    if (site == journal.sites.end()) {
      finding.message += "; it is a backward call, and the line of its forward call is not known";
      return;
    }
    PathStep step;
    step.op = site->second.api;
    step.note = fmt::format("'{}' was called here: this is its backward call", step.op);
    step.backtrace = stacks_.resolve(journal, site->second);
    step.location = stacks_.place_of(step.backtrace);
    finding.message += fmt::format("; it is the backward call of '{}' ({}:{})", step.op, step.location.file,
                                   step.location.line);
    finding.path.push_back(std::move(step));
  }

  PathStep step_of(const Journal& journal, const std::vector<std::uint32_t>& chain, std::uint32_t number,
                   const std::vector<std::string>& roles) {
    const JournalFinding& site = journal.sites.at(number);
    PathStep step = origin_step(site, roles);
    step.backtrace = stacks_.resolve(journal, site);
    step.location = stacks_.place_of(step.backtrace);
    if (!step.after.empty()) step.note += stacks_.generated_note(step.backtrace);
    const JournalFinding* source = source_of_wide_operand(journal.sites, chain, number);
    if (source == nullptr || is_promotion(*source)) return step;
    const SourceLocation place = stacks_.place_of(stacks_.resolve(journal, *source));
    step.note += fmt::format("; its {} operand was {}", step.after, origin_step(*source, {}).note);
    if (place.line != 0) step.note += fmt::format(" at {}:{}", place.file, place.line);
    return step;
  }

  std::size_t step_index(Finding& finding, const Journal& journal, const std::vector<std::uint32_t>& chain,
                         std::uint32_t number) {
    PathStep step = step_of(journal, chain, number, {});
    for (std::size_t i = 0; i < finding.path.size(); ++i)
      if (const PathStep& known = finding.path[i];
          known.op == step.op && known.after == step.after && same_stack(known.backtrace, step.backtrace))
        return i;
    finding.path.push_back(std::move(step));
    return finding.path.size() - 1;
  }

  static Occurrence occurrence(const Journal& journal, const JournalFinding& recorded) {
    Occurrence result;
    if (journal.process) {
      result.host = journal.process->host;
      result.rank = journal.process->rank;
      result.pid = journal.process->pid;
    }
    result.thread = static_cast<std::int64_t>(recorded.thread);
    result.first_seen = time_text(recorded.time_ns);
    result.count = recorded.count;
    for (const JournalOperand& operand : recorded.operands)
      if ((operand.flags & kOperandPresent) != 0) result.dtypes.push_back(dtype_text(operand.packed));
    return result;
  }

  // One finding per mistake: the same rule, API, dtypes, stack and line to edit. Shapes may differ.
  void merge(Finding&& finding) {
    for (Finding& known : report_.findings) {
      if (known.rule != finding.rule || known.api != finding.api || known.message != finding.message ||
          known.occurrences.front().dtypes != finding.occurrences.front().dtypes ||
          known.location.file != finding.location.file || known.location.line != finding.location.line ||
          !same_stack(known.backtrace, finding.backtrace))
        continue;
      known.count += finding.count;
      merge_occurrence(known, finding.occurrences.front());
      return;
    }
    report_.findings.push_back(std::move(finding));
  }

  const ReportSettings& settings_;
  Stacks stacks_;
  std::set<std::string> libraries_;
  std::vector<AcceptedCall> accepted_;
  std::vector<RankCall> rank_calls_;
  UnknownOrigins unknown_origins_;
  Report report_;
};

// The next journal of the same process, which exec has made another program; nullptr when there is none.
const Journal* successor(const Journal& journal, const std::vector<Journal>& journals) {
  const Journal* next = nullptr;
  if (!journal.process || journal.closed) return nullptr;
  for (const Journal& other : journals) {
    bool same = other.process && other.process->pid == journal.process->pid &&
                other.process->host == journal.process->host &&
                other.process->started == journal.process->started &&
                other.process->opened_ns > journal.process->opened_ns;
    if (same && (next == nullptr || other.process->opened_ns < next->process->opened_ns)) next = &other;
  }
  return next;
}

// `bash -c program` and its like: the first image left nothing to say.
bool has_nothing_to_say(const Journal& journal) {
  return journal.kernels.empty() && journal.problems.empty();
}

}  // namespace

Report build_report(const std::vector<Journal>& journals, const ReportSettings& settings) {
  Builder builder(settings);
  for (const Journal& journal : journals) {
    const Journal* next = successor(journal, journals);
    if (next == nullptr || !has_nothing_to_say(journal)) builder.add(journal, next);
  }
  Report report = builder.finish(refused_sources(journals));
  settings.filter.apply(report);
  return report;
}

std::vector<std::string> journal_problems(const std::vector<Journal>& journals) {
  std::vector<std::string> lines;
  for (const Journal& journal : journals)
    for (const std::string& problem : journal.problems)
      lines.push_back(fmt::format("{}: {}", journal.file, problem));
  return lines;
}

}  // namespace dtype_guard::san
