#include "analyzer/flow/engine/speculation.h"

#include <algorithm>
#include <utility>

namespace dtype_guard::flow {

Value Effects::as_input(Value value) {
  inputs.push_back(value);
  return value;
}

bool Effects::is_input(const Value& value) const {
  return std::any_of(inputs.begin(), inputs.end(), [&](const Value& each) { return each.same(value); });
}

Speculation::Speculation(Effects& effects, const RolledBack& rolled_back) : effects_(effects) {
  if (rolled_back.sinks) sinks_ = effects.sinks;
  if (rolled_back.inputs) inputs_ = effects.inputs;
  if (rolled_back.converted_to_half) converted_to_half_ = effects.converted_to_half;
  if (rolled_back.steps) steps_ = effects.steps;
}

Speculation::~Speculation() {
  if (kept_) return;
  if (sinks_) effects_.sinks = std::move(*sinks_);
  if (inputs_) effects_.inputs = std::move(*inputs_);
  if (converted_to_half_) effects_.converted_to_half = *converted_to_half_;
  if (steps_) effects_.steps = *steps_;
}

RunApart::RunApart(Effects& effects, Names& names)
    : effects_(effects),
      names_(names),
      of_root_(std::exchange(effects, {})),
      several_(names.ids.several()),
      run_(names.origins.run()) {
  names.ids.set_several({});
  names.origins.begin_run();
}

RunApart::~RunApart() {
  effects_ = std::move(of_root_);
  names_.ids.set_several(several_);
  names_.origins.go_on_with(run_);
}

}  // namespace dtype_guard::flow
