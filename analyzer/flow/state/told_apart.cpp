// Which places hold one value is no part of whether states are equal, and decides what is learnt of them.
#include <algorithm>
#include <unordered_map>

#include "analyzer/flow/state/state.h"
#include "analyzer/flow/values/effort.h"

namespace dtype_guard::flow {
namespace {
// What each value of one state is in another that is equal to it.
class Identified {
 public:
  // False where it was another one already.
  bool note(const Value& before, const Value& now) {
    if (before.is_bottom() || before.same(now)) return true;
    return now_.try_emplace(before.address(), now.address()).first->second == now.address();
  }
  bool note(const HeapPointer& before, const HeapPointer& now) {
    if (!before || !now || before == now) return true;
    auto other = now->cells.begin();
    for (const auto& [key, cell] : before->cells) {
      if (!note(cell, (other++)->second)) return false;
    }
    return note(before->rest, now->rest);
  }
  bool empty() const { return now_.empty(); }
  // Whether one of them is left as it was in another place.
  bool is_left(const Value& before, const Value& now) const {
    return before.same(now) && now_.contains(before.address());
  }
  bool is_left(const HeapPointer& before, const HeapPointer& now) const {
    if (!before || !now) return false;
    auto other = now->cells.begin();
    return std::any_of(before->cells.begin(), before->cells.end(),
                       [&](const auto& cell) { return is_left(cell.second, (other++)->second); });
  }
  bool may_be_in(const HeldValues& held) const {
    return std::any_of(now_.begin(), now_.end(), [&](const auto& each) { return held.may_hold(each.first); });
  }

 private:
  std::unordered_map<const void*, const void*> now_;
};
}  // namespace

bool tells_apart_alike(const State& before, const State& now) {
  Identified values;
  const auto note = [&](std::size_t, const auto& one, const auto& other) {
    Effort::note(Effort::Of::kEntry);
    return values.note(one, other);
  };
  if (!before.values.visit_differences(now.values, note) || !before.heap.visit_differences(now.heap, note))
    return false;
  if (values.empty()) return true;
  return before.values.visit_where(
             [](const NoSummary&) { return true; },
             [&](std::size_t id, const Value& each) { return !values.is_left(each, now.values[id]); }) &&
         before.heap.visit_where(
             [&](const HeldValues& held) {
               Effort::note(Effort::Of::kLeaf);
               return values.may_be_in(held);
             },
             [&](std::size_t id, const HeapPointer& each) { return !values.is_left(each, now.heap[id]); });
}

}  // namespace dtype_guard::flow
