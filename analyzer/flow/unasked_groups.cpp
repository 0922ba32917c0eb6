#include "analyzer/flow/unasked_groups.h"

#include <utility>

namespace dtype_guard::flow {

std::string UnaskedGroups::key(std::span<const AskedRoot> roots, const std::string& torch_version) {
  std::string out = torch_version + ' ' + roots.front().options->device;
  for (const AskedRoot& each : roots) out += ' ' + std::to_string(each.root);
  return out;
}

std::optional<GroupOutcome> UnaskedGroups::find(const std::string& key, const std::string& setting) const {
  const auto found = known_.find(key);
  if (found == known_.end()) return std::nullopt;
  GroupOutcome out = found->second;
  const auto in_setting = [&](auto& roots) {
    for (auto& root : roots) {
      for (CollectedFinding& each : root.findings) each.finding.precision = {setting};
    }
  };
  in_setting(out.roots);
  if (out.to_keep) in_setting(out.to_keep->roots);
  for (Refusal& each : out.seen.refusals) each.setting = setting;
  return out;
}

void UnaskedGroups::keep(const std::string& key, GroupOutcome outcome) {
  outcome.begun_at.reset();
  outcome.knew_halves = false;
  outcome.halves.reset();
  known_.insert_or_assign(key, std::move(outcome));
}

}  // namespace dtype_guard::flow
