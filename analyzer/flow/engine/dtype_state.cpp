#include "analyzer/flow/engine/dtype_state.h"

#include <algorithm>
#include <tuple>

#include "analyzer/flow/engine/arguments.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
}

void DtypeState::set_autocast(const Instruction& instruction, State& state) {
  const bool here = instruction.name == device_ || instruction.name.empty();
  if (!here && !state.autocast.elsewhere.count(instruction.name)) {
    state.autocast.elsewhere[instruction.name] = {true, true, false, Dtype::kUndefined, {}};
  }
  AutocastState& autocast = here ? state.autocast : state.autocast.elsewhere.at(instruction.name);
  if (const Value* dtype = named(state, instruction, "dtype")) {
    const Alternative* one = dtype->single();
    autocast.dtype = one && one->kind == Kind::kDtype ? one->dtype : Dtype::kUndefined;
    autocast.dtype_where_on = false;
  }
  const Value* on = named(state, instruction, "on");
  if (!on) return;
  const std::optional<bool> known = truth(*on);
  if (autocast.dtype_where_on && known.value_or(true)) autocast.dtype = Dtype::kUndefined;
  // Where none is named the device has one, whatever the setting.
  if (known.value_or(true)) effects_.note_named(autocast.assumed ? Dtype::kUndefined : autocast.dtype);
  autocast.may_be_on = known.value_or(true);
  autocast.assumed = autocast.assumed && autocast.may_be_on;
  autocast.may_be_off = !known.value_or(false);
}

void DtypeState::set_default_dtype(const Instruction& instruction, State& state) {
  const Alternative* one = argument(state, instruction, 0).single();
  state.default_dtype = one && one->kind == Kind::kDtype ? one->dtype : Dtype::kUndefined;
}

Value DtypeState::save_state(const State& state) {
  const std::pair snapshot(state.autocast, state.default_dtype);
  auto found = std::find(snapshots_.begin(), snapshots_.end(), snapshot);
  if (found == snapshots_.end()) found = snapshots_.insert(found, snapshot);
  return Value(Alternative::at(Kind::kState, static_cast<HeapId>(found - snapshots_.begin())));
}

void DtypeState::restore_state(const Instruction& instruction, State& state) const {
  const Alternative* one = argument(state, instruction, 0).single();
  if (one && one->kind == Kind::kState) {
    std::tie(state.autocast, state.default_dtype) = snapshots_[one->object];
  } else {
    state.autocast = {true, true, false, Dtype::kUndefined, {}};
    state.default_dtype = Dtype::kUndefined;
  }
}

}  // namespace dtype_guard::flow
