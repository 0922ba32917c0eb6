#include "analyzer/flow/engine/speculation.h"

#include <algorithm>
#include <utility>

namespace dtype_guard::flow {

Value Effects::as_input(Value value) {
  inputs_.push_back(value);
  return value;
}

bool Effects::is_input(const Value& value) const {
  return std::any_of(inputs_.begin(), inputs_.end(), [&](const Value& each) { return each.same(value); });
}

void Effects::add_of_object(const Effects& made, SymbolSets& symbols) {
  sinks_.add(made.sinks_, symbols);
  inputs_.insert(inputs_.end(), made.inputs_.begin(), made.inputs_.end());
  converted_to_half_ = converted_to_half_ || made.converted_to_half_;
  tells_half_types_apart_ = tells_half_types_apart_ || made.tells_half_types_apart_;
}

Effects::Kept Effects::kept(const RolledBack& rolled_back) const {
  Kept out;
  if (rolled_back.sinks) out.sinks = sinks_;
  if (rolled_back.inputs) out.inputs = inputs_;
  if (rolled_back.converted_to_half) out.converted_to_half = converted_to_half_;
  if (rolled_back.steps) out.steps = steps_;
  return out;
}

void Effects::roll_back(Kept kept) {
  if (kept.sinks) sinks_ = std::move(*kept.sinks);
  if (kept.inputs) inputs_ = std::move(*kept.inputs);
  if (kept.converted_to_half) converted_to_half_ = *kept.converted_to_half;
  if (kept.steps) steps_ = *kept.steps;
}

Speculation::Speculation(Effects& effects, const RolledBack& rolled_back)
    : effects_(effects), before_(effects.kept(rolled_back)) {}

Speculation::~Speculation() {
  if (!kept_) effects_.roll_back(std::move(before_));
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
