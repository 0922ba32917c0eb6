#include "analyzer/flow/state.h"

#include <algorithm>
#include <utility>

namespace dtype_guard::flow {
namespace {

// What each side of a join knows that the other does not.
struct Sides {
  SymbolSetId into = 0;
  SymbolSetId from = 0;
};

Sides drop_differing_guards(std::vector<Guard>& into, const std::vector<Guard>& from, SymbolSets& symbols) {
  Sides out;
  std::vector<Guard> common;
  std::set_intersection(into.begin(), into.end(), from.begin(), from.end(), std::back_inserter(common));
  const auto lost = [&](const std::vector<Guard>& side) {
    SymbolSetId set = 0;
    for (const Guard& guard : side) {
      if (!std::binary_search(common.begin(), common.end(), guard)) set = symbols.unite(set, guard.symbols);
    }
    return set;
  };
  out.into = lost(into);
  out.from = lost(from);
  into = std::move(common);
  return out;
}

// Alternatives that the other side does not have got here under this side's conditions.
Value tagged(const Value& value, const Value& other, SymbolSetId conditions, SymbolSets& symbols) {
  if (!conditions || value.is_bottom()) return value;
  std::vector<Alternative> out = value.alternatives();
  bool changed = false;
  for (Alternative& each : out) {
    const bool shared = std::any_of(other.begin(), other.end(),
                                    [&](const Alternative& o) { return same_place_in_order(o, each); });
    if (shared) continue;
    const SymbolSetId more = symbols.unite(each.symbols, conditions);
    changed = changed || more != each.symbols;
    each.symbols = more;
  }
  return changed ? Value(std::move(out)) : value;
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
    for (const auto& [key, value] : from->cells) cell(*out, key, value);
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
    into = std::move(out);
  }

 private:
  void cell(HeapObject& into, const Key& key, const Value& value) const {
    const auto [found, is_new] = into.cells.try_emplace(key, value);
    if (!is_new) {
      values(found->second, value);
    } else if (!into.rest.is_bottom() && key.kind == Key::Kind::kIndex) {
      values(found->second, into.rest);  // one side left this cell to the rest
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
  if (into.same(from)) return;
  for (const auto& [id, object] : from) {
    const auto found = std::as_const(into).find(id);
    if (found == std::as_const(into).end()) {
      into[id] = object;
      continue;
    }
    HeapPointer joined = found->second;
    joiner.objects(joined, object);
    if (joined != found->second) into[id] = std::move(joined);
  }
}

}  // namespace

const HeapObject* State::find(HeapId id) const {
  const auto found = heap.find(id);
  return found == heap.end() ? nullptr : found->second.get();
}

HeapObject& State::change(HeapId id) {
  HeapPointer& slot = heap[id];
  // Nobody else sees it: a constructor that sets hundreds of fields must not copy them at each.
  if (slot && slot.use_count() == 1) return const_cast<HeapObject&>(*slot);
  auto copy = slot ? std::make_shared<HeapObject>(*slot) : std::make_shared<HeapObject>();
  HeapObject& out = *copy;
  slot = std::move(copy);
  return out;
}

bool operator==(const State& a, const State& b) {
  const auto same_entry = [](const auto& x, const auto& y) {
    return x.first == y.first && (x.second == y.second || *x.second == *y.second);
  };
  return a.autocast == b.autocast && a.default_dtype == b.default_dtype && a.guards == b.guards &&
         a.tests == b.tests && a.values == b.values &&
         (a.heap.same(b.heap) ||
          std::equal(a.heap.begin(), a.heap.end(), b.heap.begin(), b.heap.end(), same_entry));
}

void join(State& into, const State& from, SymbolSets& symbols, bool tag_conditions) {
  Sides sides = drop_differing_guards(into.guards, from.guards, symbols);
  if (!tag_conditions) sides = {};
  const Joiner joiner(sides, symbols);
  if (into.values.size() < from.values.size()) into.values.resize(from.values.size());
  for (std::size_t i = 0; i < from.values.size(); ++i) joiner.values(into.values[i], from.values[i]);
  join_heaps(into.heap, from.heap, joiner);
  std::vector<PassedTest> common;
  std::set_intersection(into.tests.begin(), into.tests.end(), from.tests.begin(), from.tests.end(),
                        std::back_inserter(common));
  into.tests = std::move(common);
  join_autocast(into.autocast, from.autocast);
  if (into.default_dtype != from.default_dtype) into.default_dtype = Dtype::kUndefined;
}

Value weakened(const Value& value) {
  std::vector<Alternative> out = value.alternatives();
  for (Alternative& each : out) each.uncertain = true;
  return Value(std::move(out));
}

Value weak_update(const Value& old_value, const Value& new_value, SymbolSets& symbols) {
  if (old_value.is_bottom() || old_value == new_value) return new_value;
  return join(weakened(old_value), weakened(new_value), symbols);
}

}  // namespace dtype_guard::flow
