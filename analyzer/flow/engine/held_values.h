// Values wherever a state holds them, and what objects hold: no more than the state is needed.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "analyzer/flow/state/state.h"

namespace dtype_guard::flow {

// What is made of values, once of each: places that hold one value hold one afterwards.
class MadeOnce {
 public:
  template <typename Make>
  const Value& of(const Value& before, const Make& make) {
    const auto [found, is_new] = made_.try_emplace(before.address());
    if (is_new) found->second = {before, make(before)};
    return found->second.after;
  }

 private:
  struct Made {
    Value before;  // kept, so that its address is no other's
    Value after;
  };
  std::unordered_map<const void*, Made> made_;
};

// In every place that holds the very same value. False where nothing is left of it.
bool replace_everywhere(State& state, const Value& before, const Value& after);
// What is left of a value. Of several tensors that is one which other places know by itself.
Value left_of(const Value& value, std::vector<Alternative> kept);
// What of a value is there under the conditions: not what came under the opposite of one of them.
Value left_under(const Value& value, SymbolSetId conditions, const SymbolSets& symbols);
Value shared_contents(const State& state, const Value& given);
// The tensor is no longer known, in any place that holds it.
void weaken(State& state, const Value& given);
void doubt_elements(State& state, const std::vector<Value>& elements);
bool is_container(const State& state, const Value& value);
std::optional<std::vector<HeapId>> modules_of(const State& state, const Value& value);
std::vector<HeapId> objects_below(const State& state, const std::vector<Value>& values);
bool is_known_tensor(const Alternative& each);

}  // namespace dtype_guard::flow
