// Values wherever a state holds them, and what objects hold: no more than the state is needed.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/flow/state/state.h"

namespace dtype_guard::flow {

// In every place that holds the very same value. False where nothing is left of it.
bool replace_everywhere(State& state, const Value& before, const Value& after);
Value shared_contents(const State& state, const Value& given);
// The tensor is no longer known, in any place that holds it.
void weaken(State& state, const Value& given);
void doubt_elements(State& state, const std::vector<Value>& elements);
bool is_container(const State& state, const Value& value);
std::optional<std::vector<HeapId>> modules_of(const State& state, const Value& value);
std::vector<HeapId> objects_below(const State& state, const std::vector<Value>& values);
bool is_known_tensor(const Alternative& each);

}  // namespace dtype_guard::flow
