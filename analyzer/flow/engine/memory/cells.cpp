// What a cell of one object holds, reading and writing it: strong and weak updates, objects that stand for
// several, and what unseen code may have written.
#include <algorithm>

#include "analyzer/flow/engine/held_values.h"
#include "analyzer/flow/engine/memory/memory.h"
#include "analyzer/flow/settings/module_types.h"
#include "analyzer/flow/state/as_made.h"
#include "rules/operators/library_names.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;

// What one of several objects holds is there under the conditions under which it is that object. What came
// into it under such a condition may have come into it where it is another; what all of them hold alike is
// there whichever it is. What came there where it is another alone is not read.
bool is_in_all(const Alternative& wanted, const std::vector<Value>& all) {
  return wanted.kind == Kind::kTensor && std::all_of(all.begin(), all.end(), [&](const Value& value) {
           return std::any_of(value.begin(), value.end(), [&](const Alternative& each) {
             return same_place_in_order(each, wanted) && each.symbols == wanted.symbols && !each.uncertain;
           });
         });
}
Value held_by_one(const Value& value, const std::vector<Value>& all, SymbolSetId conditions,
                  SymbolSets& symbols) {
  if (!conditions) return value;
  std::vector<Alternative> out = left_under(value, conditions, symbols).alternatives();
  for (Alternative& each : out) {
    if (is_in_all(each, all)) continue;
    each.uncertain = each.uncertain || (is_held(each) && symbols.conflict(each.symbols, conditions));
    each.symbols = symbols.unite(each.symbols, is_held(each) ? conditions : symbols.deciding(conditions));
    each.truth = Truth::kOther;
  }
  return Value(std::move(out));
}
}  // namespace

// A question for its dtype asks for theirs in turn: see doubt_elements.
Value Memory::one_of_several(const HeapObject& list, const Value& all) {
  Value out = weakened(all);
  std::vector<Value> each_of_them;
  for (const auto& [key, value] : list.cells) each_of_them.push_back(value);
  elements_.insert_or_assign(out.address(), std::pair(out, std::move(each_of_them)));
  return out;
}

const std::vector<Value>* Memory::several_of(const Value& one) const {
  const auto found = elements_.find(one.address());
  return found == elements_.end() ? nullptr : &found->second.second;
}

Value Memory::read(const State& state, const Location& location) {
  const HeapObject* object = state.find(location.object);
  if (!object) return Value::unknown();
  if (object->stands != HeapObject::Stands::kForItself && location.key.kind != Key::Kind::kAny)
    return object->cells.at(HeapObject::kOne);
  if (location.key.kind == Key::Kind::kAny) {
    Value out = object->rest;
    bool several = false;
    for (const auto& [key, value] : object->cells) {
      if (key.kind != Key::Kind::kIndex) continue;
      several = several || (!out.is_bottom() && !(out == value));
      out = join(out, value, symbols_);
    }
    if (several && !agree(out)) return one_of_several(*object, out);
    if (!out.is_bottom()) return out;
  } else if (const auto found = object->cells.find(location.key); found != object->cells.end()) {
    return found->second;
  } else if (location.key.kind == Key::Kind::kIndex && !object->rest.is_bottom()) {
    return object->rest;
  }
  const HeapId known_by = object->original ? object->original : location.object;
  const bool chosen = location.key.kind == Key::Kind::kField && object->is_input;
  const SymbolSetId own = ids_.of_field(object->nature, known_by, location.key.id);
  if (!chosen) return Value::unknown(symbols_.unite(object->symbols, own));
  const SymbolSetId all = symbols_of_field(known_by, *object, location.key.id);
  return Value::unknown(all, all == own ? Truth::kSymbol : Truth::kOther);
}

Value Memory::read(const State& state, const Target& target) {
  std::vector<Value> all;
  for (const Location& each : target.locations) all.push_back(read(state, each));
  const bool is_one =
      !all.empty() && target.direct.is_bottom() &&
      std::all_of(all.begin(), all.end(), [&](const Value& each) { return each.same(all.front()); });
  if (is_one) return all.front();
  std::vector<SymbolSetId> conditions;
  for (const Location& each : target.locations) conditions.push_back(each.symbols);
  return join(target.direct, held_by_either(all, conditions), symbols_);
}

Value Memory::held_by_either(const std::vector<Value>& all, const std::vector<SymbolSetId>& conditions) {
  if (all.size() == 1) return all.front();
  Value out;
  std::vector<const Value*> ways;
  for (std::size_t i = 0; i < all.size(); ++i) {
    out = join(out, held_by_one(all[i], all, conditions[i], symbols_), symbols_);
    ways.push_back(&all[i]);
  }
  return of_several(out, ways);
}

namespace {
// Of several elements some may be one thing and some another, and which is which is not known.
bool disagree(const Value& value) {
  const auto is_tensor = [](const Alternative& each) {
    return each.kind == Kind::kTensor && !each.uncertain;
  };
  const auto one = std::find_if(value.begin(), value.end(), is_tensor);
  return one != value.end() && std::any_of(one, value.end(), [&](const Alternative& each) {
           return is_tensor(each) && each.dtype != one->dtype;
         });
}

// Where one more element goes: behind the last, as long as it is known how many there are.
Key next_cell(const HeapObject& object, bool strong) {
  const auto count = static_cast<std::int64_t>(object.cells.size());
  const bool listed = object.cells.empty() || object.cells.last_key() == Key{Key::Kind::kIndex, count - 1};
  const bool ordered = object.kind == HeapObject::Kind::kContainer || object.type == kSequential;
  const bool counted = strong && listed && count < Memory::kMaxListed && object.rest.is_bottom() && ordered;
  return counted ? Key{Key::Kind::kIndex, count} : Key{Key::Kind::kAny, 0};
}
}  // namespace

void Memory::write(State& state, const Location& location, const Value& given, bool strong) {
  const HeapObject* holder = state.find(location.object);
  if (holder && holder->stands != HeapObject::Stands::kForItself && location.key.kind == Key::Kind::kField)
    return write_to_one(state, *holder, location.key, given);
  if (ids_.in_round() && !(holder && holder->kind == HeapObject::Kind::kFrame))
    rounds_.become_several(state, given);
  const Value value = rounds_.kept_in(state, location.object, given);
  HeapObject& object = state.change(location.object);
  Key key = location.key;
  if (key.kind == Key::Kind::kNext) key = next_cell(object, strong);
  if (key.kind == Key::Kind::kAny) {
    if (disagree(value)) return write(state, location, weakened(value), strong);
    // One more is behind those that are there already, and a Sequential only ever gets more.
    const bool is_one_more = location.key.kind == Key::Kind::kNext || object.type == kSequential;
    for (auto& [each, cell] : object.cells) {
      if (each.kind == Key::Kind::kIndex && !is_one_more) cell = weak_update(cell, value, symbols_);
    }
    // Of one dtype with those that may be there, it is not what stands in their place.
    const bool leaves_others = location.key.kind == Key::Kind::kNext && !object.rest.is_bottom();
    object.rest =
        leaves_others ? weak_update(value, object.rest, symbols_) : weak_update(object.rest, value, symbols_);
    return;
  }
  const bool is_element = key.kind == Key::Kind::kIndex;  // one that is not listed is one of the rest
  Value& cell = object.cells.try_emplace(key, is_element ? object.rest : Value()).first;
  cell = strong ? value : weak_update(cell, value, symbols_);
}

void Memory::write(State& state, const Target& target, const Value& value) {
  const bool strong = target.locations.size() == 1 && target.direct.is_bottom();
  for (const Location& each : target.locations) write(state, each, value, strong);
}

// What decides a field: also what others of the object are written by, for both may follow from one thing.
SymbolSetId Memory::symbols_of_field(HeapId object, const HeapObject& is, std::int64_t id) {
  SymbolSetId out = ids_.of_field(is.nature, object, id);
  for (const std::uint32_t each : program_.fields.written_by(is.type, ids_.field_name(id)))
    out = symbols_.unite(out, ids_.of_writer(is.nature, object, each));
  return out;
}

static bool is_registered(const HeapObject& module, HeapId tensor) {
  return std::any_of(module.registered.begin(), module.registered.end(), [&](const Registration& each) {
    return std::any_of(each.value.begin(), each.value.end(),
                       [&](const Alternative& one) { return one.object == tensor; });
  });
}

// Something unknown may have happened to everything that can be reached from here by reference. The setting
// says what a root's module is while it runs: unseen code that it calls leaves that.
void Memory::havoc(State& state, const Value& value) {
  std::vector<Alternative> work(value.begin(), value.end());
  std::vector<HeapId> seen;
  while (!work.empty()) {
    const Alternative each = work.back();
    work.pop_back();
    if (each.kind == Kind::kReference) {
      const Value old = read(state, Location{each.object, each.key});
      work.insert(work.end(), old.begin(), old.end());
      write(state, Location{each.object, each.key}, Value::unknown(symbols_of(old, symbols_)), true);
      continue;
    }
    const bool shared =
        each.kind == Kind::kObject || each.kind == Kind::kHandle || each.kind == Kind::kClosure;
    if (!shared || std::find(seen.begin(), seen.end(), each.object) != seen.end()) continue;
    seen.push_back(each.object);
    const HeapObject* before = state.find(each.object);
    if (!before || before->of_setting) continue;
    HeapObject& object = state.change(each.object);
    object.is_input = false;
    object.left_half = object.kind == HeapObject::Kind::kTensor && is_made_half(object);
    const bool buffer = object.kind == HeapObject::Kind::kBuffer;  // C++ elements keep their type
    const auto change = [&](Value& cell) {
      work.insert(work.end(), cell.begin(), cell.end());
      const bool reachable = std::any_of(cell.begin(), cell.end(), [&](const Alternative& one) {
        if (one.kind != Kind::kHandle) return one.kind == Kind::kObject || one.kind == Kind::kReference;
        const HeapObject* tensor = state.find(one.object);
        return !tensor || !tensor->of_setting || is_registered(object, one.object);
      });
      const bool holds_tensor = object.kind == HeapObject::Kind::kContainer &&
                                object.stands == HeapObject::Stands::kForItself &&
                                std::any_of(cell.begin(), cell.end(),
                                            [](const Alternative& one) { return one.kind == Kind::kHandle; });
      const Value unknown = Value::unknown(symbols_of(cell, symbols_));
      if (!reachable) cell = unknown;
      // What stands in a list may be another tensor then.
      if (reachable && holds_tensor) cell = join(weakened(cell), unknown, symbols_);
    };
    for (auto& [key, cell] : object.cells) {
      if (!buffer) change(cell);
    }
    if (!object.rest.is_bottom()) change(object.rest);
    if (object.type == kDictionary && object.rest.is_bottom()) object.rest = Value::unknown();
    object.may_be_shorter = object.may_be_shorter || object.kind == HeapObject::Kind::kContainer;
    for (const Registration& one : object.registered)
      work.insert(work.end(), one.value.begin(), one.value.end());
  }
}

Value Memory::shared_tensor(HeapId id, HeapObject::Kind kind, const Value& contents, State& state,
                            bool stated) {
  HeapObject object;
  object.kind = kind;
  object.cells[HeapObject::kContents] = rounds_.kept_in(state, id, contents);
  object.stated = stated;
  state.put(id, std::move(object));
  return Value(Alternative::at(Kind::kHandle, id));
}

// What is stored in a field of one of several objects: any of them may have got it.
void Memory::write_to_one(State& state, const HeapObject& several, const Key& key, const Value& value) {
  if (key.kind != Key::Kind::kField) return;
  for (const Registration& each : std::vector<Registration>(several.registered.get())) {
    const auto modules = modules_of(state, each.value);
    if (!modules) continue;
    for (const HeapId id : *modules) {
      if (state.find(id)->cells.find(key) == state.find(id)->cells.end()) continue;
      write(state, Location{id, key}, value, false);
      state.change(id).one_by_one = true;
    }
  }
}

}  // namespace dtype_guard::flow
