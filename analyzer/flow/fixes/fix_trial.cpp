#include "analyzer/flow/fixes/fix_trial.h"

#include <algorithm>

namespace dtype_guard::flow {

FixTrial::FixTrial(Module& module, const AnalysisOptions& options) : module_(module), options_(options) {
  settings_ = options.settings;
  for (const PrecisionSetting& each : precision_settings()) {
    const bool known = std::any_of(settings_.begin(), settings_.end(),
                                   [&](const PrecisionSetting& other) { return other.name == each.name; });
    if (!known) settings_.push_back(each);
  }
  options_.strict = true;  // a definite finding that becomes a possible one is not cured
}

FixTrial::Verdict FixTrial::judge(const std::vector<std::uint32_t>& functions) const {
  Verdict out;
  AnalysisOptions options = options_;
  options.through = functions;
  for (const PrecisionSetting& setting : settings_) {
    options.settings = {setting};
    const AnalysisResult result = analyse(module_, options);
    out.given_up += result.not_analysed.size();
    for (const Finding& each : result.findings) {
      out.places.emplace(setting.name, each.location.file, each.location.line, each.location.column, "", "");
      for (const Sink& sink : each.sinks) {
        out.operands.emplace(setting.name, sink.location.file, sink.location.line, sink.location.column,
                             sink.api, sink.role);
      }
    }
  }
  return out;
}

const FixTrial::Verdict& FixTrial::verdict_before(const std::vector<std::uint32_t>& functions) {
  const auto known = before_.find(functions);
  return known != before_.end() ? known->second : before_.emplace(functions, judge(functions)).first->second;
}

bool FixTrial::cures(const std::vector<CastEdit>& edits, const Finding& finding) {
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
  EditedModule edited(module_);
  made(edited);
  const Verdict after = judge(functions);
  const auto here = [&](const Key& key) {
    return std::get<1>(key) == finding.location.file && std::get<2>(key) == finding.location.line &&
           std::get<3>(key) == finding.location.column;
  };
  return after.given_up <= before.given_up && std::none_of(after.places.begin(), after.places.end(), here) &&
         std::includes(before.operands.begin(), before.operands.end(), after.operands.begin(),
                       after.operands.end());
}

}  // namespace dtype_guard::flow
