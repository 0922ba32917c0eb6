// Joining of states where ways meet.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "analyzer/flow/state/as_made.h"
#include "analyzer/flow/values/effort.h"
#include "analyzer/flow/values/ranks.h"

namespace dtype_guard::flow {
namespace {

using Several = std::vector<const Value*>;  // of one place, by the way

// Whether it is one thing of which nothing more can be learnt: another that is alike is the same.
bool is_determined(const Value& value) {
  using Kind = Alternative::Kind;
  const Alternative* one = value.single();
  if (!one || one->kind == Kind::kTop || one->kind == Kind::kUnknown || one->kind == Kind::kTensor)
    return false;
  if (one->kind == Kind::kDtype) return one->dtype != Dtype::kUndefined;
  return one->has_number ||
         (one->kind != Kind::kNumber && one->kind != Kind::kBool && one->kind != Kind::kString);
}
bool is_one(const Value& a, const Value& b) { return a.same(b) || (is_determined(a) && a == b); }
// Whether they are alike, and hold the very same values.
bool is_one(const HeapObject& a, const HeapObject& b) {
  return &a == &b || (is_one(a.rest, b.rest) && are_alike_but_for_values(a, b) &&
                      std::equal(a.cells.begin(), a.cells.end(), b.cells.begin(), b.cells.end(),
                                 [](const auto& x, const auto& y) {
                                   return x.first == y.first && is_one(x.second, y.second);
                                 }));
}

// Whichever of them it is, the dtype is the same.
bool are_of_one_dtype(const Several& values) {
  const Value& first = *values.front();
  const Dtype dtype = first.is_bottom() ? Dtype::kUndefined : first.begin()->dtype;
  const auto is_like = [&](const Alternative& each) {
    return each.kind == Alternative::Kind::kTensor && each.dtype == dtype;
  };
  return dtype != Dtype::kUndefined && std::all_of(values.begin(), values.end(), [&](const Value* value) {
           return !value->is_bottom() && std::all_of(value->begin(), value->end(), is_like);
         });
}

// Alternatives that not all ways have got here under the conditions of this one. One that was there
// under such a condition before may be one that never takes this way: `if (f) q = wide; if (f) q = narrow;`.
// Where that is certain, it is not there. Where all are of one dtype, which of them it is decides no more
// than where that comes from.
Value tagged(const Value& value, const Several& all, const Side& side, bool no_matter, SymbolSets& symbols) {
  if ((side.guards.empty() && !side.symbols) || value.is_bottom()) return value;
  static thread_local std::vector<Alternative> out;  // copied where something changed
  out.clear();
  bool changed = false;
  for (Alternative each : value) {
    const auto relation = flow::relation(each.symbols, side.guards, symbols);
    if (is_held(each) && relation == SymbolSets::Relation::kContradict && value.size() > 1) {
      changed = true;
      if (!each.elsewhere) continue;
      each = only_elsewhere(each);
    }
    const bool shared = std::all_of(
        all.begin(), all.end(), [&](const Value* other) { return other->same(value) || has(*other, each); });
    if (!shared && each.truth == Truth::kOther) {
      const SymbolSetId here = is_held(each) ? side.symbols : side.of_numbers;
      const SymbolSetId more = symbols.unite(each.symbols, here);
      const bool asked_twice = side.is_doubtful || relation >= SymbolSets::Relation::kCorrelated;
      const bool decided_twice = is_held(each) && asked_twice;
      bool& in_doubt = no_matter ? each.displaced : each.uncertain;
      changed = changed || more != each.symbols || (decided_twice && !in_doubt);
      each.symbols = more;
      in_doubt = in_doubt || decided_twice;
    }
    out.push_back(each);
  }
  return changed && !out.empty() ? Value(out) : value;
}

// What was joined of which values, by their addresses on the ways.
class JoinedValues {
 public:
  // Bottom where these were not joined yet.
  Value& of(const Several& all) {
    const auto found = joined_.find(all);
    if (found != joined_.end()) return found->second;
    Addresses addresses;
    for (const Value* each : all) addresses.push_back(each->address());
    return joined_.try_emplace(std::move(addresses)).first->second;
  }

 private:
  using Addresses = std::vector<const void*>;
  static const void* address(const void* address) { return address; }
  static const void* address(const Value* value) { return value->address(); }
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const auto& all) const {
      constexpr std::size_t kMix = 0x9E3779B97F4A7C15;
      std::size_t out = 0;
      for (const auto* each : all) out = (out ^ reinterpret_cast<std::uintptr_t>(address(each))) * kMix;
      return out ^ (out >> 32U);
    }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const auto& a, const auto& b) const {
      return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                        [](const auto* x, const auto* y) { return address(x) == address(y); });
    }
  };
  std::unordered_map<Addresses, Value, Hash, Equal> joined_;
};

class Joiner {
 public:
  Joiner(const std::vector<Side>& sides, SymbolSets& symbols) : sides_(sides), symbols_(symbols) {}

  // Places that hold one value on each way hold one value behind it, and others do not.
  Value values(const Several& all) const {
    const bool same =
        std::all_of(all.begin(), all.end(), [&](const Value* each) { return is_one(*each, *all.front()); });
    if (same) return *all.front();
    Value& out = joined_.of(all);
    if (out.is_bottom()) out = joined(all);
    return out;
  }

  // Those that are not null; one at least is not.
  HeapPointer objects(const std::vector<HeapPointer>& all) const {
    std::vector<std::size_t> ways;  // on which it is there
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i]) ways.push_back(i);
    }
    const HeapPointer& first = all[ways.front()];
    if (ways.size() == 1) return of_one_way(first, sides_[ways.front()]);
    const bool same =
        std::all_of(ways.begin(), ways.end(), [&](std::size_t i) { return is_one(*all[i], *first); });
    if (same) return first;
    if (ways.size() < all.size()) {
      std::vector<HeapPointer> there;
      std::vector<Side> sides;
      for (const std::size_t i : ways) {
        there.push_back(all[i]);
        sides.push_back(sides_[i]);
      }
      return Joiner(sides, symbols_).objects(there);
    }
    Effort::note(Effort::Of::kCell, all.size() * first->cells.size());
    auto out = Shared<HeapObject>::make(*first);
    cells(all, *out);
    out->may_be_shorter = !have_the_same_keys(all);
    join_as_made(*out, all, symbols_);
    out->left_half = is_left_half(all);
    const bool some = std::any_of(all.begin(), all.end(), [&](const HeapPointer& each) {
      return each->one_by_one != first->one_by_one;
    });
    if (some) {
      for (auto& [key, cell] : out->cells) cell = agree(cell) ? cell : weakened(cell);
    }
    out->rest = rest_of(all);
    for (const HeapPointer& each : all) out->may_be_shorter = out->may_be_shorter || each->may_be_shorter;
    registered(all, *out);
    for (std::size_t i = 1; i < all.size(); ++i) {
      out->stated = out->stated || all[i]->stated;
      out->more = std::min(out->more, all[i]->more);
      out->is_input = out->is_input && all[i]->is_input;
      out->of_setting = out->of_setting && all[i]->of_setting;
      out->one_by_one = out->one_by_one || all[i]->one_by_one;
    }
    return out;
  }

 private:
  // What was made on one way is reached by that way alone. What it holds of both answers to the question that
  // led there is told apart as a place of the way itself.
  HeapPointer of_one_way(const HeapPointer& object, const Side& side) const {
    static const Value nothing;
    std::optional<HeapObject> changed;
    for (const auto& [key, cell] : object->cells) {
      const bool is_asked_twice = std::any_of(cell.begin(), cell.end(), [&](const Alternative& each) {
        return symbols_.share(each.symbols, side.symbols) ||
               relation(each.symbols, side.guards, symbols_) == SymbolSets::Relation::kContradict;
      });
      if (!is_asked_twice) continue;
      const Value left = tagged(cell, {&cell, &nothing}, side, false, symbols_);
      if (!changed) changed = *object;
      changed->cells[key] = left;
    }
    return changed ? HeapPointer(Shared<HeapObject>::make(std::move(*changed))) : object;
  }

  // What any element is. Where there is none yet, to read one throws: that way says nothing of what it is.
  Value rest_of(const std::vector<HeapPointer>& all) const {
    Several rests;
    std::vector<Side> sides;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i]->rest.is_bottom() && all[i]->cells.empty()) continue;
      rests.push_back(&all[i]->rest);
      sides.push_back(sides_[i]);
    }
    if (rests.size() == all.size()) return values(rests);
    return rests.empty() ? Value() : Joiner(sides, symbols_).values(rests);
  }

  Value joined(const Several& all) const {
    const bool no_matter = are_of_one_dtype(all);
    Value out;
    for (std::size_t i = 0; i < all.size(); ++i)
      out = join(out, tagged(*all[i], all, sides_[i], no_matter, symbols_), symbols_);
    return of_several(out, all);
  }

  void cells(const std::vector<HeapPointer>& all, HeapObject& out) const {
    if (have_the_same_keys(all)) return cells_in_order(all, out);
    for (const HeapPointer& each : all) {
      for (const auto& [key, value] : each->cells) out.cells.try_emplace(key, value);
    }
    for (auto& [key, cell] : out.cells) cell = values(cell_of_each(all, key));
  }

  static bool have_the_same_keys(const std::vector<HeapPointer>& all) {
    const Cells& first = all.front()->cells;
    return std::all_of(all.begin() + 1, all.end(), [&](const HeapPointer& each) {
      return std::equal(first.begin(), first.end(), each->cells.begin(), each->cells.end(),
                        [](const auto& a, const auto& b) { return a.first == b.first; });
    });
  }

  // What most objects are: nothing has to be looked for, and most cells are shared.
  void cells_in_order(const std::vector<HeapPointer>& all, HeapObject& out) const {
    Several cell;
    std::ptrdiff_t at = 0;
    for (auto& [key, joined] : out.cells) {
      cell.clear();
      for (const HeapPointer& each : all) cell.push_back(&(each->cells.begin() + at)->second);
      ++at;
      const bool is_one =
          std::all_of(cell.begin(), cell.end(), [&](const Value* each) { return each->same(*cell.front()); });
      if (is_one) continue;
      leave_to_others(cell);
      joined = values(cell);
    }
  }

  // A way that has no such cell left it to the rest, or says nothing of it.
  static Several cell_of_each(const std::vector<HeapPointer>& all, const Key& key) {
    static const Value nothing;
    Several out;
    for (const HeapPointer& each : all) {
      const auto found = each->cells.find(key);
      out.push_back(found != each->cells.end()      ? &found->second
                    : key.kind == Key::Kind::kIndex ? &each->rest
                                                    : &nothing);
    }
    leave_to_others(out);
    return out;
  }

  // What the last of those says that say something is what the others are.
  static void leave_to_others(Several& all) {
    const auto said =
        std::find_if(all.rbegin(), all.rend(), [](const Value* each) { return !each->is_bottom(); });
    if (said == all.rend()) return;
    const Value* const last = *said;
    for (const Value*& each : all) each = each->is_bottom() ? last : each;
  }

  void registered(const std::vector<HeapPointer>& all, HeapObject& out) const {
    static const Value nothing;
    const auto is_like_first = [&](const HeapPointer& each) { return each->registered == out.registered; };
    if (std::all_of(all.begin(), all.end(), is_like_first)) return;
    const auto named = [](const auto& list, const Registration& wanted) {
      return std::find_if(list.begin(), list.end(),
                          [&](const Registration& each) { return each.name == wanted.name; });
    };
    std::vector<Registration>& joined = out.registered.change();
    for (const HeapPointer& each : all) {
      for (const Registration& theirs : each->registered) {
        if (named(joined, theirs) == joined.end()) joined.push_back(theirs);
      }
    }
    for (Registration& one : joined) {
      Several of_one;
      for (const HeapPointer& each : all) {
        const auto found = named(each->registered, one);
        of_one.push_back(found == each->registered.end() ? &nothing : &found->value);
      }
      one.value = values(of_one);
    }
  }

  const std::vector<Side>& sides_;
  SymbolSets& symbols_;
  mutable JoinedValues joined_;
};

void join_autocast(AutocastState& into, const AutocastState& from) {
  if (into.dtype != from.dtype) {
    const bool one_is_on = into.may_be_on != from.may_be_on;
    into.dtype = !one_is_on ? Dtype::kUndefined : into.may_be_on ? into.dtype : from.dtype;
    into.dtype_where_on = true;
  }
  into.dtype_where_on = into.dtype_where_on || from.dtype_where_on;
  std::erase_if(into.elsewhere, [&](const auto& each) { return !from.elsewhere.count(each.first); });
  for (auto& [device, state] : into.elsewhere) join_autocast(state, from.elsewhere.at(device));
  into.assumed = into.assumed || from.assumed;
  into.may_be_on = into.may_be_on || from.may_be_on;
  into.may_be_off = into.may_be_off || from.may_be_off;
}

bool is_same(const Value& a, const Value& b) { return a.same(b); }
bool is_same(const HeapPointer& a, const HeapPointer& b) { return a == b; }

// Calls visit(index) for each entry in which the ways may differ.
template <typename Array, typename Visit>
void visit_where_they_differ(const std::vector<const State*>& ways, Array State::*array, const Visit& visit) {
  std::vector<std::size_t> differing;
  for (std::size_t i = 1; i < ways.size(); ++i) {
    (ways.front()->*array)
        .visit_differences(ways[i]->*array, [&](std::size_t id, const auto& a, const auto& b) {
          Effort::note(Effort::Of::kEntry);
          if (!is_same(a, b)) differing.push_back(id);
          return true;
        });
  }
  Effort::note(Effort::Of::kJoined, ways.size() * differing.size());
  std::sort(differing.begin(), differing.end());
  differing.erase(std::unique(differing.begin(), differing.end()), differing.end());
  std::for_each(differing.begin(), differing.end(), visit);
}

void join_heaps(Heap& out, const std::vector<const State*>& ways, const Joiner& joiner) {
  visit_where_they_differ(ways, &State::heap, [&](std::size_t id) {
    std::vector<HeapPointer> all;
    for (const State* each : ways) all.push_back(each->heap[id]);
    HeapPointer joined = joiner.objects(all);
    if (joined != out[id]) out.change(id) = std::move(joined);
  });
}

void join_values(Values& out, const std::vector<const State*>& ways, const Joiner& joiner,
                 const Meeting& meeting) {
  visit_where_they_differ(ways, &State::values, [&](std::size_t id) {
    if (meeting.forgets(static_cast<ValueId>(id))) return;
    Several all;
    for (const State* each : ways) all.push_back(&each->values[id]);
    Value joined = joiner.values(all);
    if (!joined.same(out[id])) out.change(id) = std::move(joined);
  });
}

void join_thread_state(State& into, const State& from) {
  into.tests.keep_those_of(from.tests);
  into.other_inputs_are_guessed = into.other_inputs_are_guessed || from.other_inputs_are_guessed;
  into.module_is_half = into.module_is_half && from.module_is_half;
  into.ranks.join(from.ranks);
  join_autocast(into.autocast, from.autocast);
  if (into.default_dtype != from.default_dtype) into.default_dtype = Dtype::kUndefined;
}

}  // namespace

State join(const std::vector<const State*>& ways, SymbolSets& symbols, const Meeting& meeting,
           const std::vector<Side>& rounds) {
  std::vector<const Guards*> guards;
  for (const State* each : ways) guards.push_back(&each->guards);
  State out = *ways.front();
  out.guards = meet(guards, meeting);
  const std::vector<Side> sides = rounds.empty() ? sides_of(guards, out.guards, meeting, symbols) : rounds;
  const Joiner joiner(sides, symbols);
  join_values(out.values, ways, joiner, meeting);
  join_heaps(out.heap, ways, joiner);
  std::for_each(ways.begin() + 1, ways.end(), [&](const State* each) { join_thread_state(out, *each); });
  return out;
}

}  // namespace dtype_guard::flow
