#include "analyzer/flow/threaded_analysis.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "analyzer/flow/pass.h"
#include "analyzer/flow/root_memo.h"
#include "analyzer/flow/roots/given_up.h"
#include "analyzer/flow/roots/options_by_root.h"
#include "analyzer/flow/roots/reach.h"
#include "analyzer/flow/roots_in_order.h"
#include "analyzer/flow/workers.h"

namespace dtype_guard::flow {

namespace {
// In the order of their table, others behind: which setting comes first decides which account of a finding
// that several share is given, and that must not hang on the order in which they were asked for.
std::vector<PrecisionSetting> in_order(std::vector<PrecisionSetting> settings) {
  const std::vector<PrecisionSetting>& table = precision_settings();
  const auto place = [&](const PrecisionSetting& each) {
    const auto row = std::find_if(table.begin(), table.end(),
                                  [&](const PrecisionSetting& one) { return one.name == each.name; });
    return std::pair(row - table.begin(), row == table.end() ? each.name : std::string());
  };
  std::stable_sort(settings.begin(), settings.end(),
                   [&](const PrecisionSetting& a, const PrecisionSetting& b) { return place(a) < place(b); });
  return settings;
}
}  // namespace

namespace {
// What all roots gave so far, taken in their order.
class Analysis {
 public:
  Analysis(const Program& program, const AnalysisOptions& options, Workers& workers)
      : program_(program), options_(options), workers_(workers) {
    if (options_.refusals) return;
    calls_.emplace(program_);
    if (!options_.memo)
      unseen_.emplace(program_.functions, options_.contracts ? *options_.contracts : builtin_contracts());
  }
  AnalysisResult run(const std::vector<std::uint32_t>& roots);

 private:
  using Roots = std::vector<AskedRoot>;
  Roots asked_in(const PrecisionSetting& setting, const std::string& torch_version);
  void one_by_one(const Roots& asked, const PrecisionSetting& setting, const std::string& torch_version,
                  std::size_t allowed);
  void together(const Roots& asked, const PrecisionSetting& setting, const std::string& torch_version,
                std::size_t allowed);
  void take(std::uint32_t root, const KeptRoot& gave, const PrecisionSetting& setting,
            const std::string& torch_version);
  void see(const SeenByRoots& seen);
  const std::string* template_of(std::uint32_t root) const;
  void drop_decided(std::vector<Finding>& findings) const;

  const Program& program_;
  const AnalysisOptions& options_;
  Workers& workers_;
  const Module& module_ = program_.functions.module();
  const std::vector<PrecisionSetting> settings_ = in_order(options_.settings);
  OptionsByRoot by_root_{program_, options_};
  std::vector<std::uint32_t> order_;
  KeptRoots memo_{module_, options_};
  Work work_;
  GivenUp given_up_;
  // Roots without anything to find in a setting, whichever the half type is, by version of PyTorch.
  std::map<std::string, std::map<std::string, std::set<std::uint32_t>>> settled_;
  FindingCollector collector_{module_, options_};
  std::set<std::tuple<std::string, int, int>>
      decided_;  // calls that a program decides on: file, line, column
  // What the evaluation of all roots saw. A trial of an edit asks for its findings alone, and an editor for
  // no calls that were not seen.
  std::optional<ReachedCalls> calls_;
  std::optional<UnseenCalls> unseen_;
  AnalysisResult out_;
};

const std::string* Analysis::template_of(std::uint32_t root) const {
  const std::uint32_t file = module_.functions[root].range.file;
  const bool is_one = file < module_.files.size() && options_.templates.contains(module_.files[file]);
  return is_one ? &module_.files[file] : nullptr;
}

void Analysis::see(const SeenByRoots& seen) {
  if (calls_) calls_->note(seen.records);
  if (unseen_) unseen_->note(seen.followed);
  out_.refusals.insert(out_.refusals.end(), seen.refusals.begin(), seen.refusals.end());
  out_.steps += seen.steps;
  out_.tells_half_types_apart = out_.tells_half_types_apart || seen.tells_half_types_apart;
}

void Analysis::take(std::uint32_t root, const KeptRoot& gave, const PrecisionSetting& setting,
                    const std::string& torch_version) {
  if (gave.is_left_out) given_up_.left_out(root, setting);
  out_.left_out = out_.left_out || gave.is_left_out;
  if (gave.is_given_up) given_up_.exceeded(root, setting, gave.problem);
  for (const SourceRange& each : gave.decided)
    decided_.insert({module_.files[each.file], each.line, each.column});
  if (gave.is_settled) settled_[torch_version][setting.name].insert(root);
}

// What else was found where a program's code hands over what is right was found for callers that are none.
void Analysis::drop_decided(std::vector<Finding>& findings) const {
  if (decided_.empty()) return;
  std::erase_if(findings, [&](const Finding& each) {
    return !each.sinks.empty() && std::all_of(each.sinks.begin(), each.sinks.end(), [&](const Sink& sink) {
      return decided_.contains({sink.location.file, sink.location.line, sink.location.column});
    });
  });
}

Analysis::Roots Analysis::asked_in(const PrecisionSetting& setting, const std::string& torch_version) {
  std::set<std::uint32_t> settled_by_twin;
  for (const PrecisionSetting& each : settings_) {
    if (are_twins(each, setting)) settled_by_twin.merge(settled_[torch_version][each.name]);
  }
  Roots out;
  for (const std::uint32_t root : order_) {
    if (given_up_.is_pointless(root, setting) || settled_by_twin.contains(root)) continue;
    out.push_back({root, &by_root_.of(root), template_of(root)});
  }
  return out;
}

// Where each may be kept, or be the last that is looked at.
void Analysis::one_by_one(const Roots& asked, const PrecisionSetting& setting,
                          const std::string& torch_version, std::size_t allowed) {
  const std::size_t begun = work_.steps();
  std::size_t behind = asked.size();
  memo_.begin(setting.name, torch_version);
  std::map<const AnalysisOptions*, Pass> passes;  // by what the roots' code names
  for (const auto& [root, own, only_in] : asked) {
    --behind;
    Pass& pass = passes.try_emplace(own, program_, *own, setting, torch_version, work_).first->second;
    out_.cut_short = out_.cut_short || out_.steps >= options_.total_budget;
    if (out_.cut_short) continue;
    collector_.only_in(only_in);
    const auto look_at = [&, root = root](KeptRoot& now) {
      if (options_.before_root) options_.before_root(root);
      const std::size_t done = work_.steps() - begun;
      work_.allow_root(share_of_root(allowed - std::min(allowed, done), behind));
      SeenByRoots seen;
      const bool is_done = !work_.is_used_up() && pass.look_at(root, collector_, seen, now.problem);
      see(seen);
      now.decided = seen.decided;
      now.is_left_out = !is_done && work_.is_used_up();
      now.is_given_up = !is_done && !now.is_left_out;
      now.is_settled = !now.is_left_out && pass.is_settled();
      if (options_.memo) now.ran = pass.ran();
    };
    take(root, memo_.of(root, collector_, look_at), setting, torch_version);
  }
}

void Analysis::together(const Roots& asked, const PrecisionSetting& setting, const std::string& torch_version,
                        std::size_t allowed) {
  RootsInOrder roots(program_, setting, torch_version, options_, work_, allowed);
  const auto take_root = [&](std::uint32_t root, const KeptRoot& gave) {
    for (const CollectedFinding& each : gave.findings) collector_.add(each);
    take(root, gave, setting, torch_version);
  };
  roots.look_at(asked, workers_, {take_root, [&](const SeenByRoots& seen) { see(seen); }});
}

AnalysisResult Analysis::run(const std::vector<std::uint32_t>& roots) {
  // A trial of an edit has few roots, and a budget of its own.
  order_ = options_.refusals ? roots : nearest_first(program_, roots);
  const bool is_limited = options_.total_budget != std::numeric_limits<std::size_t>::max();
  const bool apart = options_.refusals || options_.memo || options_.before_root || is_limited;
  Shares shares(settings_, options_);
  for (const PrecisionSetting& setting : settings_) {
    for (const std::string& torch_version : options_.torch_versions) {
      const std::size_t allowed =
          shares.next(static_cast<std::size_t>(&setting - settings_.data()), work_.steps());
      work_.allow(allowed);
      const Roots asked = asked_in(setting, torch_version);
      if (asked.empty()) continue;
      apart ? one_by_one(asked, setting, torch_version, allowed)
            : together(asked, setting, torch_version, allowed);
    }
  }
  given_up_.list(module_, out_.not_analysed);
  out_.findings = collector_.take();
  drop_decided(out_.findings);
  const std::map<std::uint32_t, std::string> over = given_up_.functions(program_.functions);
  if (calls_) out_.calls = calls_->list(over);
  if (unseen_) out_.unseen = unseen_->list(over);
  return std::move(out_);
}
}  // namespace

AnalysisResult analyse(const Program& program, const std::vector<std::uint32_t>& roots,
                       const AnalysisOptions& options, Workers& workers) {
  return Analysis(program, options, workers).run(roots);
}

AnalysisResult analyse(const Program& program, const std::vector<std::uint32_t>& roots,
                       const AnalysisOptions& options) {
  Workers alone(program, 1);
  return analyse(program, roots, options, alone);
}

}  // namespace dtype_guard::flow
