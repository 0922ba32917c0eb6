// Rounds of loops. What a loop makes has a rank of its own in each round: within one, two values with the
// same symbol have the same rank, and when the next one begins nothing that is left of the last has that
// symbol.
#include "analyzer/flow/engine/memory/rounds.h"

#include <algorithm>
#include <unordered_set>

#include "analyzer/flow/engine/held_values.h"
#include "analyzer/flow/values/ranks.h"

namespace dtype_guard::flow {
namespace {
// Symbols of a loop's head: which round it is, and what counts them.
constexpr int kRound = -2;
constexpr int kCounted = -3;

// Takes symbols out of values. Places that held the same value do so afterwards.
class Forgetting {
 public:
  Forgetting(const std::unordered_set<RankSymbol>& symbols, const RankFacts& facts)
      : symbols_(symbols), facts_(facts) {}

  bool concerns(const Value& value) const {
    return std::any_of(value.begin(), value.end(),
                       [&](const Alternative& each) { return symbols_.contains(each.rank.symbol); });
  }
  const Value& without(const Value& value) {
    return done_.of(value, [&](const Value& before) {
      std::vector<Alternative> out = before.alternatives();
      for (Alternative& each : out) {
        if (!symbols_.contains(each.rank.symbol)) continue;
        each.rank = facts_.known(each.rank);
        each.rank.symbol = 0;
        each.rank.offset = 0;
      }
      return Value(std::move(out));
    });
  }

 private:
  const std::unordered_set<RankSymbol>& symbols_;
  const RankFacts& facts_;
  MadeOnce done_;
};

void forget_in(HeapId id, State& state, Forgetting& forgetting) {
  const HeapObject& before = *state.find(id);
  const bool concerned = forgetting.concerns(before.rest) ||
                         std::any_of(before.cells.begin(), before.cells.end(),
                                     [&](const auto& cell) { return forgetting.concerns(cell.second); });
  if (!concerned) return;
  HeapObject& object = state.change(id);
  if (forgetting.concerns(object.rest)) object.rest = forgetting.without(object.rest);
  for (auto& [key, cell] : object.cells) {
    if (forgetting.concerns(cell)) cell = forgetting.without(cell);
  }
}

}  // namespace

void Rounds::note_round(const Activation& activation, RankSymbol symbol) {
  for (const Activation* each = &activation; each; each = each->caller) {
    if (!each->info.repeats[each->block]) continue;
    of_rounds_[each->context].emplace(symbol, each->block);
    made_in_rounds_.insert(symbol);
  }
}

// An object that every round makes is a summary object: a list that they are put into has several of them. So
// what is kept in it is that of any round, in all places where it is known as the same value.
Value Rounds::kept_in(State& state, HeapId object, const Value& value) {
  if (!ids_.stands_for_several(object)) return value;
  const HeapObject* holder = state.find(object);
  Forgetting forgetting(made_in_rounds_, state.ranks);
  if ((holder && holder->kind == HeapObject::Kind::kFrame) || !forgetting.concerns(value)) return value;
  const Value before = value;
  Value after = forgetting.without(before);
  replace_everywhere(state, before, after);
  return after;
}

// A round puts an object into another: by the next it is a summary object, of which that one holds several.
void Rounds::become_several(State& state, const Value& objects, int depth) {
  constexpr int kMaxNesting = 4;
  for (const Alternative& each : objects) {
    const HeapObject* object = each.kind == Alternative::Kind::kObject ? state.find(each.object) : nullptr;
    if (!object || depth > kMaxNesting) continue;
    ids_.note_several(each.object);
    std::vector<Value> held;
    for (const auto& [key, cell] : object->cells) held.push_back(cell);
    const Value rest = object->rest;
    for (const Value& one : held) {
      kept_in(state, each.object, one);
      become_several(state, one, depth + 1);
    }
    Value forgotten = kept_in(state, each.object, rest);
    if (!forgotten.same(rest)) state.change(each.object).rest = std::move(forgotten);
    become_several(state, rest, depth + 1);
  }
}

// A back edge is taken: what was made between its ends is of the last round. Every cycle has one that spans
// all of it, so that what is left alone here, as it was when the round began, is older than the loop.
void Rounds::end_round(const Activation& activation, BackEdge edge, State& state, const State& begun) {
  const auto made = of_rounds_.find(activation.context);
  if (made == of_rounds_.end()) return;
  const std::vector<std::uint32_t>& order = activation.info.order;
  std::unordered_set<RankSymbol> last;
  for (const auto& [symbol, block] : made->second) {
    if (order[edge.to] <= order[block] && order[block] <= order[edge.from]) last.insert(symbol);
  }
  if (last.empty()) return;
  Forgetting forgetting(last, state.ranks);
  std::vector<std::size_t> values;
  state.values.visit_differences(begun.values, [&](std::size_t id, const Value& now, const Value&) {
    if (forgetting.concerns(now)) values.push_back(id);
    return true;
  });
  for (const std::size_t id : values) {
    Value& value = state.values.change(id);
    value = forgetting.without(value);
  }
  std::vector<HeapId> objects;
  state.heap.visit_differences(begun.heap,
                               [&](std::size_t id, const HeapPointer& now, const HeapPointer& then) {
                                 if (now && now != then) objects.push_back(static_cast<HeapId>(id));
                                 return true;
                               });
  for (const HeapId id : objects) forget_in(id, state, forgetting);
  state.ranks.forget(last);
}

// What a round made is there in the next if that comes, and it comes where the loop's own condition says so:
// `if (i == last) q = wide;`. What came with the first is one thing with the numbers that tell the rounds
// apart.
std::vector<Side> Rounds::sides_of_rounds(const Activation& activation, BlockId head,
                                          const std::vector<const State*>& ways, std::size_t first) {
  const void* site = &activation.code.blocks[head];
  // Which round it is is asked behind all that every way has passed.
  std::vector<SymbolSets::Passage> passages;
  for (const Guard& each : ways.front()->guards) {
    const bool is_passed = std::all_of(ways.begin() + 1, ways.end(), [&](const State* way) {
      return std::binary_search(way->guards.begin(), way->guards.end(), each);
    });
    if (each.passage && is_passed)
      passages.push_back(each.on_some_ways ? SymbolSets::perhaps(each.passage) : each.passage);
  }
  const auto behind = [&](SymbolSetId asked) { return symbols_.behind(symbols_.checked(asked), passages); };
  const SymbolSetId round = behind(ids_.choice(Nature::kRound, activation.context, site, kRound));
  const SymbolSetId counted = behind(ids_.choice(Nature::kSetting, activation.context, site, kCounted));
  std::vector<Side> out;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    Side side{{}, round, symbols_.unite(round, counted), {}};
    for (Guard each : i < first ? Guards() : ways[i]->guards) {
      if (each.context != activation.context || !leaves_a_loop(activation, each.block)) continue;
      each.passage = 0;
      side.guards.push_back(each);
    }
    out.push_back(std::move(side));
  }
  return out;
}

// What a loop has made is there where it ran, and a question whether it did may be asked later: `if (n > 0)`.
void Rounds::leave_loops(const Activation& activation, BlockId from, BlockId to, State& state) {
  for (const FunctionInfo::Loop& loop : activation.info.loops) {
    const auto before = activation.begun.find(loop.head);
    if (before == activation.begun.end() || !loop.is_left_by(from, to)) continue;
    Guards passed;
    std::copy_if(
        state.guards.begin(), state.guards.end(), std::back_inserter(passed),
        [&](const Guard& each) { return each.context == activation.context && loop.blocks[each.block]; });
    const SymbolSetId conditions = side_of(std::move(passed), state.guards, symbols_).symbols;
    const bool constant = symbols_.deciding(conditions) == ids_.undecided();
    note_conditions(state.heap, before->second.heap, constant ? 0 : conditions,
                    symbols_.unite(conditions, ids_.undecided()), symbols_);
  }
}

}  // namespace dtype_guard::flow
