#include "analyzer/flow/state/state.h"

#include <algorithm>
#include <utility>

#include "analyzer/flow/values/effort.h"

namespace dtype_guard::flow {
namespace {

Value under(const Value& value, const Value& before, SymbolSetId conditions, SymbolSetId questions,
            SymbolSets& symbols) {
  if (value.same(before) || value.is_bottom()) return value;
  std::vector<Alternative> out = value.alternatives();
  bool changed = false;
  for (Alternative& each : out) {
    if (has(before, each) || each.truth != Truth::kOther) continue;
    const SymbolSetId more = is_held(each) ? conditions : symbols.deciding(conditions);
    const bool asked_again = is_held(each) && !each.uncertain && symbols.share(each.symbols, questions);
    changed = changed || asked_again || symbols.unite(each.symbols, more) != each.symbols;
    each.uncertain = each.uncertain || asked_again;
    each.symbols = symbols.unite(each.symbols, more);
  }
  return changed ? Value(std::move(out)) : value;
}

}  // namespace

void note_conditions(Heap& heap, const Heap& before, SymbolSetId conditions, SymbolSetId questions,
                     SymbolSets& symbols) {
  heap.visit_differences(before, [&](std::size_t id, const HeapPointer& mine, const HeapPointer& old) {
    if (!mine || !old || mine == old) return true;
    auto out = Shared<HeapObject>::make(*mine);
    for (auto& [key, value] : out->cells) {
      const auto then = old->cells.find(key);
      value = under(value, then == old->cells.end() ? Value() : then->second, conditions, questions, symbols);
    }
    // An element of a list that had none before was put in by a round: to read it says that there was one.
    const bool was_empty = old->rest.is_bottom() && old->cells.empty();
    if (!was_empty) out->rest = under(out->rest, old->rest, conditions, questions, symbols);
    heap.change(id) = std::move(out);
    return true;
  });
}

void PassedTests::add(const PassedTest& test) {
  const auto at = std::lower_bound(tests_.begin(), tests_.end(), test);
  const bool known = at != tests_.end() && !(test < *at);
  if (!known && tests_.size() < kMost) tests_.insert(at, test);
}

void PassedTests::keep_those_of(const PassedTests& other) {
  std::vector<PassedTest> common;
  std::set_intersection(tests_.begin(), tests_.end(), other.tests_.begin(), other.tests_.end(),
                        std::back_inserter(common));
  tests_ = std::move(common);
}

std::pair<std::size_t, std::size_t> HeldValues::bits_of(const void* address) {
  constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15;
  const std::uint64_t mixed = reinterpret_cast<std::uintptr_t>(address) * kMix;
  return {(mixed >> 54) % kBits, (mixed >> 44) % kBits};
}

void HeldValues::add(const HeapPointer& object) {
  if (!object) return;
  for (const auto& [key, value] : object->cells) {
    const auto [one, two] = bits_of(value.address());
    bits_.set(one);
    bits_.set(two);
  }
}

bool HeldValues::may_hold(const void* address) const {
  const auto [one, two] = bits_of(address);
  return bits_[one] && bits_[two];
}

const HeapObject* State::find(HeapId id) const { return heap[id].get(); }

HeapObject& State::change(HeapId id) {
  HeapPointer& slot = heap.change(id);
  // Nothing else sees it: a constructor that sets hundreds of fields must not copy them at each.
  if (slot && slot.has_one_owner()) return const_cast<HeapObject&>(*slot);
  if (slot) Effort::note(Effort::Of::kCell, slot->cells.size());
  auto copy = slot ? Shared<HeapObject>::make(*slot) : Shared<HeapObject>::make();
  HeapObject& out = *copy;
  slot = std::move(copy);
  return out;
}

void State::put(HeapId id, HeapObject object) {
  heap.change(id) = Shared<HeapObject>::make(std::move(object));
}

void State::erase(HeapId id) {
  if (find(id)) heap.change(id) = nullptr;
}

bool operator==(const State& a, const State& b) {
  const auto same_object = [](std::size_t, const HeapPointer& x, const HeapPointer& y) {
    Effort::note(Effort::Of::kEntry);
    return x == y || (x && y && *x == *y);
  };
  return a.autocast == b.autocast && a.default_dtype == b.default_dtype && a.guards == b.guards &&
         a.tests == b.tests && a.ranks == b.ranks &&
         a.other_inputs_are_guessed == b.other_inputs_are_guessed && a.module_is_half == b.module_is_half &&
         a.values.visit_differences(b.values,
                                    [](std::size_t, const Value& x, const Value& y) {
                                      Effort::note(Effort::Of::kEntry);
                                      return x == y;
                                    }) &&
         a.heap.visit_differences(b.heap, same_object);
}

Value weakened(const Value& value) {
  std::vector<Alternative> out = value.alternatives();
  for (Alternative& each : out) each.uncertain = true;
  return Value(std::move(out));
}

bool agree(const Value& value) {
  const auto certain = [&](const Alternative& each) {
    return each.kind == Alternative::Kind::kTensor && !each.uncertain && each.dtype == value.begin()->dtype;
  };
  return !value.is_bottom() && std::all_of(value.begin(), value.end(), certain);
}

static Value displaced(const Value& value) {
  std::vector<Alternative> out = value.alternatives();
  for (Alternative& each : out) each.displaced = true;
  return Value(std::move(out));
}

Value weak_update(const Value& old_value, const Value& new_value, SymbolSets& symbols) {
  if (old_value.is_bottom() || old_value.same(new_value)) return new_value;
  const bool agree_on_dtype = old_value == new_value || agree(join(old_value, new_value, symbols));
  const Value before = agree_on_dtype ? displaced(old_value) : weakened(old_value);
  const Value after = agree_on_dtype ? new_value : weakened(new_value);
  return of_several(join(before, after, symbols), {&before, &after});
}

}  // namespace dtype_guard::flow
