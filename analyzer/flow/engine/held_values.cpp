#include "analyzer/flow/engine/held_values.h"

#include <algorithm>

#include "analyzer/flow/values/effort.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
using Stands = HeapObject::Stands;
}  // namespace

bool is_known_tensor(const Alternative& each) {
  return each.kind == Kind::kTensor && each.dtype != Dtype::kUndefined;
}

bool replace_everywhere(State& state, const Value& before, const Value& after) {
  if (before.same(after)) return true;
  if (after.is_bottom()) return false;
  const Value old = before;  // `before` may live in what is replaced
  std::vector<std::size_t> places;
  state.values.visit_where([](const NoSummary&) { return true; },
                           [&](std::size_t id, const Value& each) {
                             Effort::note(Effort::Of::kEntry);
                             if (each.same(old)) places.push_back(id);
                             return true;
                           });
  for (const std::size_t id : places) state.values.change(id) = after;
  std::vector<HeapId> holders;
  state.heap.visit_where(
      [&](const HeldValues& held) {
        Effort::note(Effort::Of::kLeaf);
        return held.may_hold(old);
      },
      [&](std::size_t id, const HeapPointer& object) {
        const auto holds = [&](const auto& entry) { return entry.second.same(old); };
        if (object && std::any_of(object->cells.begin(), object->cells.end(), holds)) {
          holders.push_back(static_cast<HeapId>(id));
        }
        return true;
      });
  for (const HeapId id : holders) {
    for (auto& [key, cell] : state.change(id).cells) {
      if (cell.same(old)) cell = after;
    }
  }
  return true;
}

namespace {
// Tensors of a known dtype among these, each place once.
std::vector<Alternative> known_tensors(const std::vector<Value>& elements) {
  std::vector<Alternative> out;
  for (const Value& element : elements) {
    for (const Alternative& each : element) {
      const auto is_same = [&](const Alternative& other) { return same_place_in_order(each, other); };
      if (is_known_tensor(each) && std::none_of(out.begin(), out.end(), is_same)) out.push_back(each);
    }
  }
  return out;
}

// Whether it came from where one of these did, whatever it has met since, and is certain.
bool is_doubted(const Value& value, const std::vector<Alternative>& tensors) {
  return std::any_of(value.begin(), value.end(), [&](const Alternative& each) {
    return is_known_tensor(each) && !each.uncertain &&
           std::any_of(tensors.begin(), tensors.end(),
                       [&](const Alternative& other) { return same_place_in_order(each, other); });
  });
}
}  // namespace

// `for (t : {q, k, v}) if (!is_half(t)) return false;`: which of them was asked is not known, and what comes
// behind is not known to come with one that is not.
void doubt_elements(State& state, const std::vector<Value>& elements) {
  const std::vector<Alternative> tensors = known_tensors(elements);
  if (tensors.empty()) return;
  MadeOnce doubted;
  std::vector<std::pair<std::size_t, Value>> values;
  state.values.visit_where([](const NoSummary&) { return true; },
                           [&](std::size_t id, const Value& each) {
                             if (is_doubted(each, tensors))
                               values.emplace_back(id, doubted.of(each, weakened));
                             return true;
                           });
  for (const auto& [id, value] : values) state.values.change(id) = value;
  std::vector<std::tuple<HeapId, Key, Value>> cells;
  state.heap.visit_where([](const HeldValues&) { return true; },
                         [&](std::size_t id, const HeapPointer& object) {
                           if (!object) return true;
                           for (const auto& [key, cell] : object->cells) {
                             if (is_doubted(cell, tensors))
                               cells.emplace_back(static_cast<HeapId>(id), key, doubted.of(cell, weakened));
                           }
                           return true;
                         });
  for (const auto& [id, key, value] : cells) state.change(id).cells[key] = value;
}

Value left_under(const Value& value, SymbolSetId conditions, const SymbolSets& symbols) {
  const auto is_of_another = [&](const Alternative& each) {
    return is_held(each) && !each.elsewhere &&
           symbols.relation(each.symbols, conditions) == SymbolSets::Relation::kContradict;
  };
  if (std::none_of(value.begin(), value.end(), is_of_another)) return value;
  std::vector<Alternative> out = value.alternatives();
  std::erase_if(out, is_of_another);
  return out.empty() ? value : Value(std::move(out));
}

Value left_of(const Value& value, std::vector<Alternative> kept) {
  const auto is_tensor = [](const Alternative& each) { return each.kind == Kind::kTensor; };
  if (std::count_if(value.begin(), value.end(), is_tensor) > 1) {
    for (Alternative& each : kept) each.of_several = each.of_several || is_tensor(each);
  }
  return Value(std::move(kept));
}

// What a handle or a reference to a tensor leads to; another value as it is.
Value shared_contents(const State& state, const Value& given) {
  const Alternative* one = given.single();
  if (!one || (one->kind != Kind::kHandle && one->kind != Kind::kReference)) return given;
  const HeapObject* object = state.find(one->object);
  if (!object) return given;
  const auto cell = object->cells.find(one->kind == Kind::kHandle ? HeapObject::kContents : one->key);
  return cell == object->cells.end() ? given : cell->second;
}

void weaken(State& state, const Value& given) {
  const Value contents = shared_contents(state, given);
  const bool tensor = std::any_of(contents.begin(), contents.end(), is_known_tensor);
  if (tensor) replace_everywhere(state, contents, weakened(contents));
}

bool is_container(const State& state, const Value& value) {
  const Alternative* one = value.single();
  const HeapObject* object = one && one->kind == Kind::kObject ? state.find(one->object) : nullptr;
  return object && object->kind == HeapObject::Kind::kContainer;
}

// The modules that a value may be, each of a list's; nothing where one is not known.
std::optional<std::vector<HeapId>> modules_of(const State& state, const Value& value) {
  std::vector<HeapId> out, seen;
  std::vector<Alternative> work(value.begin(), value.end());
  while (!work.empty()) {
    const Alternative each = work.back();
    work.pop_back();
    const HeapObject* object = each.kind == Kind::kObject ? state.find(each.object) : nullptr;
    if (!object) return std::nullopt;
    if (std::find(seen.begin(), seen.end(), each.object) != seen.end()) continue;
    seen.push_back(each.object);
    if (object->stands == Stands::kForItself) {
      out.push_back(each.object);
      continue;
    }
    for (const Registration& one : object->registered)
      work.insert(work.end(), one.value.begin(), one.value.end());
  }
  return out;
}

// Objects that a root is handed, and what they hold and own.
std::vector<HeapId> objects_below(const State& state, const std::vector<Value>& values) {
  std::vector<HeapId> out;
  std::vector<Value> work = values;
  while (!work.empty()) {
    const Value next = work.back();
    work.pop_back();
    for (const Alternative& each : next) {
      const HeapObject* object = each.kind == Kind::kObject ? state.find(each.object) : nullptr;
      if (!object || std::find(out.begin(), out.end(), each.object) != out.end()) continue;
      out.push_back(each.object);
      for (const auto& [key, cell] : object->cells) work.push_back(cell);
      for (const Registration& one : object->registered) work.push_back(one.value);
      work.push_back(object->rest);
    }
  }
  return out;
}

}  // namespace dtype_guard::flow
