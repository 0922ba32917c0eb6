#include "analyzer/flow/state.h"

#include <algorithm>
#include <utility>

#include "analyzer/flow/ranks.h"

namespace dtype_guard::flow {
namespace {

// Of a number or a bool the symbols are what it was computed from, not how it got here.
bool is_held(const Alternative& each) {
  return each.kind != Alternative::Kind::kBool && each.kind != Alternative::Kind::kNumber;
}

// Whichever of them it is, the dtype is the same.
bool are_of_one_dtype(const Value& a, const Value& b) {
  const Dtype dtype = a.is_bottom() ? Dtype::kUndefined : a.begin()->dtype;
  const auto is_like = [&](const Alternative& each) {
    return each.kind == Alternative::Kind::kTensor && each.dtype == dtype;
  };
  return dtype != Dtype::kUndefined && std::all_of(a.begin(), a.end(), is_like) &&
         std::all_of(b.begin(), b.end(), is_like);
}

// Alternatives that the other side does not have got here under this side's conditions. One that was there
// under such a condition before may be one that never takes this side: `if (f) q = wide; if (f) q = narrow;`.
// Where that is certain, it is not there.
Value tagged(const Value& value, const Value& other, SymbolSetId conditions, SymbolSets& symbols) {
  if (!conditions || value.is_bottom()) return value;
  std::vector<Alternative> out;
  bool changed = false;
  const bool no_matter = are_of_one_dtype(value, other);
  for (Alternative each : value) {
    // Where the other side is not sure of it, that it is certain is this side's alone.
    const bool shared = std::any_of(other.begin(), other.end(), [&](const Alternative& o) {
      return same_place_in_order(o, each) && (!o.uncertain || each.uncertain);
    });
    const auto relation = symbols.relation(each.symbols, conditions);
    if (is_held(each) && relation == SymbolSets::Relation::kContradict && value.size() > 1) {
      changed = true;
      continue;
    }
    if (!shared && each.truth == Truth::kOther) {
      const SymbolSetId here = is_held(each) ? conditions : symbols.deciding(conditions);
      const SymbolSetId more = symbols.unite(each.symbols, here);
      const bool decided_twice = is_held(each) && !no_matter && relation >= SymbolSets::Relation::kCorrelated;
      changed = changed || more != each.symbols || (decided_twice && !each.uncertain);
      each.symbols = more;
      each.uncertain = each.uncertain || decided_twice;
    }
    out.push_back(each);
  }
  return changed && !out.empty() ? Value(std::move(out)) : value;
}

class Joiner {
 public:
  Joiner(Sides sides, SymbolSets& symbols) : sides_(sides), symbols_(symbols) {}

  void values(Value& into, const Value& from) const {
    if (into.same(from)) return;
    into =
        join(tagged(into, from, sides_.into, symbols_), tagged(from, into, sides_.from, symbols_), symbols_);
  }

  void objects(HeapPointer& into, const HeapPointer& from) const {
    if (into == from || *into == *from) return;
    auto out = std::make_shared<HeapObject>(*into);
    const bool some = out->one_by_one != from->one_by_one;
    for (const auto& [key, value] : from->cells) {
      cell(*out, key, value);
      if (some) out->cells[key] = agree(out->cells[key]) ? out->cells[key] : weakened(out->cells[key]);
    }
    values(out->rest, from->rest);
    for (const Registration& theirs : from->registered) {
      auto ours = std::find_if(out->registered.begin(), out->registered.end(),
                               [&](const Registration& each) { return each.name == theirs.name; });
      if (ours == out->registered.end()) {
        out->registered.push_back(theirs);
      } else {
        values(ours->value, theirs.value);
      }
    }
    out->stated = out->stated || from->stated;
    out->one_by_one = out->one_by_one || from->one_by_one;
    out->is_input = out->is_input && from->is_input;
    into = std::move(out);
  }

 private:
  void cell(HeapObject& into, const Key& key, const Value& value) const {
    const auto [ours, is_new] = into.cells.try_emplace(key, value);
    if (!is_new) {
      values(ours, value);
    } else if (!into.rest.is_bottom() && key.kind == Key::Kind::kIndex) {
      values(ours, into.rest);  // one side left this cell to the rest
    }
  }

  Sides sides_;
  SymbolSets& symbols_;
};

void join_autocast(AutocastState& into, const AutocastState& from) {
  if (into.dtype != from.dtype) {
    const bool one_is_on = into.may_be_on != from.may_be_on;
    into.dtype = !one_is_on ? Dtype::kUndefined : into.may_be_on ? into.dtype : from.dtype;
  }
  std::erase_if(into.elsewhere, [&](const auto& each) { return !from.elsewhere.count(each.first); });
  for (auto& [device, state] : into.elsewhere) join_autocast(state, from.elsewhere.at(device));
  into.assumed = into.assumed || from.assumed;
  into.may_be_on = into.may_be_on || from.may_be_on;
  into.may_be_off = into.may_be_off || from.may_be_off;
}

void join_heaps(Heap& into, const Heap& from, const Joiner& joiner) {
  into.visit_differences(from, [&](std::size_t id, const HeapPointer& mine, const HeapPointer& theirs) {
    if (!theirs || mine == theirs) return true;
    HeapPointer joined = mine ? mine : theirs;
    if (mine) joiner.objects(joined, theirs);
    if (joined != mine) into.change(id) = std::move(joined);
    return true;
  });
}

void join_values(Values& into, const Values& from, const Joiner& joiner, const Meeting& meeting) {
  into.visit_differences(from, [&](std::size_t id, const Value& mine, const Value& theirs) {
    if (mine.same(theirs) || meeting.forgets(static_cast<ValueId>(id))) return true;
    Value joined = mine;
    joiner.values(joined, theirs);
    if (!joined.same(mine)) into.change(id) = std::move(joined);
    return true;
  });
}

}  // namespace

std::pair<std::size_t, std::size_t> HeldValues::bits_of(const Value& value) {
  constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15;
  const std::uint64_t mixed = reinterpret_cast<std::uintptr_t>(value.address()) * kMix;
  return {(mixed >> 54) % kBits, (mixed >> 44) % kBits};
}

void HeldValues::add(const HeapPointer& object) {
  if (!object) return;
  for (const auto& [key, value] : object->cells) {
    const auto [one, two] = bits_of(value);
    bits_.set(one);
    bits_.set(two);
  }
}

bool HeldValues::may_hold(const Value& value) const {
  const auto [one, two] = bits_of(value);
  return bits_[one] && bits_[two];
}

const HeapObject* State::find(HeapId id) const { return heap[id].get(); }

HeapObject& State::change(HeapId id) {
  HeapPointer& slot = heap.change(id);
  // Nobody else sees it: a constructor that sets hundreds of fields must not copy them at each.
  if (slot && slot.use_count() == 1) return const_cast<HeapObject&>(*slot);
  auto copy = slot ? std::make_shared<HeapObject>(*slot) : std::make_shared<HeapObject>();
  HeapObject& out = *copy;
  slot = std::move(copy);
  return out;
}

void State::put(HeapId id, HeapObject object) {
  heap.change(id) = std::make_shared<HeapObject>(std::move(object));
}

void State::erase(HeapId id) {
  if (find(id)) heap.change(id) = nullptr;
}

bool operator==(const State& a, const State& b) {
  const auto same_object = [](std::size_t, const HeapPointer& x, const HeapPointer& y) {
    return x == y || (x && y && *x == *y);
  };
  return a.autocast == b.autocast && a.default_dtype == b.default_dtype && a.guards == b.guards &&
         a.tests == b.tests && a.ranks == b.ranks &&
         a.other_inputs_are_guessed == b.other_inputs_are_guessed && a.module_is_half == b.module_is_half &&
         a.values.visit_differences(b.values,
                                    [](std::size_t, const Value& x, const Value& y) { return x == y; }) &&
         a.heap.visit_differences(b.heap, same_object);
}

void join(State& into, const State& from, SymbolSets& symbols, const Meeting& meeting) {
  const Sides sides = join_guards(into.guards, from.guards, meeting, symbols);
  const Joiner joiner(sides, symbols);
  join_values(into.values, from.values, joiner, meeting);
  join_heaps(into.heap, from.heap, joiner);
  std::vector<PassedTest> common;
  std::set_intersection(into.tests.begin(), into.tests.end(), from.tests.begin(), from.tests.end(),
                        std::back_inserter(common));
  into.tests = std::move(common);
  into.other_inputs_are_guessed = into.other_inputs_are_guessed || from.other_inputs_are_guessed;
  into.module_is_half = into.module_is_half && from.module_is_half;
  join_ranks(into.ranks, from.ranks);
  join_autocast(into.autocast, from.autocast);
  if (into.default_dtype != from.default_dtype) into.default_dtype = Dtype::kUndefined;
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

Value weak_update(const Value& old_value, const Value& new_value, SymbolSets& symbols) {
  if (old_value.is_bottom() || old_value == new_value) return new_value;
  if (const Value either = join(old_value, new_value, symbols); agree(either)) return either;
  return join(weakened(old_value), weakened(new_value), symbols);
}

}  // namespace dtype_guard::flow
