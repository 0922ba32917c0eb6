#include "analyzer/flow/fixes/fix_trial.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/flow/function_info.h"

namespace dtype_guard::flow {

namespace {

// A report must not wait for fixes: a root that takes more steps is not judged, and after so many evaluations
// nothing more is tried. Counted, not timed, so that every run offers the same.
constexpr std::size_t kSteps = 50'000;
constexpr std::size_t kEvaluations = 20'000;

// A number that is fit for attention does not fit into a bool or an integer.
Api watched_cast() {
  Operand like;
  like.role = "like";
  for (const Dtype dtype : all_dtypes()) {
    if (is_floating(dtype)) like.accepts.insert(dtype);
  }
  Api out;
  out.name = kWatchedCast;
  out.operands = {std::move(like)};
  return out;
}

}  // namespace

FixTrial::FixTrial(Module& module, const AnalysisOptions& options) : module_(module), options_(options) {
  settings_ = options.settings;
  for (const PrecisionSetting& each : precision_settings()) {
    const bool known = std::any_of(settings_.begin(), settings_.end(),
                                   [&](const PrecisionSetting& other) { return other.name == each.name; });
    if (!known) settings_.push_back(each);
  }
  options_.step_budget = std::min(options_.step_budget, kSteps);
  options_.strict = true;  // a definite finding that becomes a possible one is not cured
  options_.refusals = true;
  if (options.contracts) contracts_ = *options.contracts;
  contracts_.apis.push_back(watched_cast());
  options_.contracts = &contracts_;
}

FixTrial::Verdict FixTrial::judge(const std::vector<std::uint32_t>& functions) const {
  Verdict out;
  AnalysisOptions options = options_;
  const FunctionIndex index(module_);
  const std::vector<std::uint32_t> roots = roots_to_analyse(index, functions);
  out.roots = roots.size();
  for (std::size_t i = 0; i < settings_.size(); ++i) {
    const PrecisionSetting& setting = settings_[i];
    options.settings = {setting};
    options.settings_named_by_user = options_.settings_named_by_user && i < options_.settings.size();
    const AnalysisResult result = analyse(index, roots, options);
    out.given_up += result.not_analysed.size();
    const auto key = [&](const Sink& sink) {
      const SourceLocation& at = sink.location;
      return Key(setting.name, at.file, at.line, at.column, sink.api, sink.role);
    };
    for (const Refusal& each : result.refusals) out.refused.emplace(key(each.sink), each.root, each.dtype);
    for (const Finding& each : result.findings) {
      out.places.emplace(setting.name, each.location.file, each.location.line, each.location.column, "", "");
      for (const Sink& sink : each.sinks) out.operands.insert(key(sink));
    }
  }
  return out;
}

const FixTrial::Verdict& FixTrial::verdict_before(const std::vector<std::uint32_t>& functions) {
  const auto known = before_.find(functions);
  if (known != before_.end()) return known->second;
  Verdict verdict = judge(functions);
  evaluated_ += verdict.roots * settings_.size();
  return before_.emplace(functions, std::move(verdict)).first->second;
}

bool FixTrial::cures(const std::vector<CastEdit>& edits, const Finding& finding) {
  limit_.clear();
  if (evaluated_ > kEvaluations) {
    limit_ = fmt::format("the trials before it took {} evaluations of functions", kEvaluations);
    return false;
  }
  const auto made = [&](EditedModule& edited) {
    return std::all_of(edits.begin(), edits.end(), [&](const CastEdit& each) { return edited.add(each); });
  };
  std::vector<std::uint32_t> functions;
  {
    EditedModule edited(module_);
    if (!made(edited)) return false;
    functions = edited.functions();
  }
  const Verdict& before = verdict_before(functions);
  const auto here = [&](const Key& key) {
    return std::get<1>(key) == finding.location.file && std::get<2>(key) == finding.location.line &&
           std::get<3>(key) == finding.location.column;
  };
  const auto too_long = [&] {
    limit_ =
        fmt::format("a function that leads there takes more than {} steps to evaluate", options_.step_budget);
    return false;
  };
  // What is not found here cannot be seen to go.
  if (std::none_of(before.places.begin(), before.places.end(), here)) return before.given_up && too_long();
  EditedModule edited(module_);
  made(edited);
  const Verdict after = judge(functions);
  evaluated_ += before.roots * settings_.size();
  if (after.given_up > before.given_up) return too_long();
  return std::none_of(after.places.begin(), after.places.end(), here) &&
         std::includes(before.operands.begin(), before.operands.end(), after.operands.begin(),
                       after.operands.end()) &&
         std::includes(before.refused.begin(), before.refused.end(), after.refused.begin(),
                       after.refused.end());
}

}  // namespace dtype_guard::flow
