#include "analyzer/flow/values/origins.h"

#include <algorithm>

namespace dtype_guard::flow {

OriginId Origins::origin(const Origin& origin) {
  const OriginKey key(origin.instruction, origin.kind, origin.before, origin.after, origin.by_autocast,
                      origin.over, origin.of_another, origin.of_unknown);
  const auto [found, is_new] = origin_ids_.try_emplace(key, static_cast<OriginId>(origins_.size()));
  if (is_new) origins_.push_back(origin);
  // In one context the setting's, in another the code's: no certainty.
  origins_[found->second].by_setting = origins_[found->second].by_setting || origin.by_setting;
  return found->second;
}

StepId Origins::step(StepId parent, OriginId origin, Step step) {
  step.parent = parent;
  step.origin = origin;
  step.depth = parent ? steps_[parent].depth + 1 : 0;
  const auto key = std::tuple(step.instruction, origin, step.after, step.op, run_);
  const auto [found, is_new] = step_ids_.try_emplace(key, static_cast<StepId>(steps_.size()));
  if (is_new) {
    steps_.push_back(std::move(step));
  } else if (step.depth < steps_[found->second].depth) {
    // Depths fall strictly towards the origin, so the chain stays free of cycles.
    steps_[found->second] = std::move(step);
  }
  return found->second;
}

std::vector<const Step*> Origins::path(StepId last) const {
  std::vector<const Step*> out;
  for (StepId id = last; id; id = steps_[id].parent) out.push_back(&steps_[id]);
  std::reverse(out.begin(), out.end());
  return out;
}

const Step* Origins::find(StepId last, Step::Kind kind) const {
  for (StepId id = last; id; id = steps_[id].parent) {
    if (steps_[id].kind == kind) return &steps_[id];
  }
  return nullptr;
}

}  // namespace dtype_guard::flow
