#include "analyzer/flow/state/guards.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "analyzer/flow/values/effort.h"

namespace dtype_guard::flow {
namespace {

// One that was passed on some ways is the same guard.
bool comes_before(Guard a, Guard b) {
  a.on_some_ways = b.on_some_ways = false;
  return a < b;
}

bool has(const Guards& guards, const Guard& guard) {
  return std::binary_search(guards.begin(), guards.end(), guard, comes_before);
}

// What all of them have passed.
Guards common(const std::vector<const Guards*>& ways) {
  Guards out = *ways.front();
  Guards fewer;
  std::for_each(ways.begin() + 1, ways.end(), [&](const Guards* way) {
    fewer.clear();
    std::set_intersection(out.begin(), out.end(), way->begin(), way->end(), std::back_inserter(fewer),
                          comes_before);
    std::swap(out, fewer);
  });
  return out;
}

Guards united(const std::vector<const Guards*>& ways) {
  Guards out = *ways.front();
  Guards more;
  std::for_each(ways.begin() + 1, ways.end(), [&](const Guards* way) {
    more.clear();
    std::set_union(out.begin(), out.end(), way->begin(), way->end(), std::back_inserter(more), comes_before);
    std::swap(out, more);
  });
  return out;
}

bool are_equal(const std::vector<const Guards*>& ways) {
  return std::all_of(ways.begin(), ways.end(), [&](const Guards* way) { return *way == *ways.front(); });
}

// Whether one may have decided against the other. Of two comparisons of one thing it is known; two that were
// answered with no, as early returns are, leave something.
bool may_exclude(const Guard& a, const Guard& b, const SymbolSets& symbols) {
  if (a.leaves_a_loop || b.leaves_a_loop || !symbols.share(a.symbols, b.symbols)) return false;
  if (a.test.of && a.test.of == b.test.of) {
    const bool same = a.test.constant == b.test.constant;
    return a.test.equal && b.test.equal ? !same : a.test.equal != b.test.equal && same;
  }
  return (a.taken || b.taken) && symbols.relation(a.symbols, b.symbols) != SymbolSets::Relation::kAgree;
}

bool of_one_branch(const Guard& a, const Guard& b) {
  return SymbolSets::are_of_one_branch(a.passage, b.passage);
}

// Both ways of a branch lead to one case of a switch.
bool has_both_ways(const Guards& guards, const Guard& guard) {
  const auto [first, last] =
      std::equal_range(guards.begin(), guards.end(), guard, [](const Guard& a, const Guard& b) {
        return std::pair(a.context, a.block) < std::pair(b.context, b.block);
      });
  return std::any_of(first, last, [&](const Guard& each) {
    return of_one_branch(each, guard) && each.taken != guard.taken;
  });
}

bool is_doubtful(const Guards& passed, const Guards& in_force, const SymbolSets& symbols) {
  Effort::note(Effort::Of::kSymbol, passed.size() * (passed.size() + in_force.size()));
  return std::any_of(passed.begin(), passed.end(), [&](const Guard& one) {
    const auto excludes = [&](const Guard& other) {
      return !of_one_branch(one, other) && may_exclude(one, other, symbols) && !has_both_ways(passed, one) &&
             !has_both_ways(passed, other);
    };
    return std::any_of(in_force.begin(), in_force.end(), excludes) ||
           std::any_of(passed.begin(), passed.end(), excludes);
  });
}

}  // namespace

void add_guard(Guards& guards, const Guard& guard) {
  const auto at = std::lower_bound(guards.begin(), guards.end(), guard, comes_before);
  if (at == guards.end() || comes_before(guard, *at)) {
    guards.insert(at, guard);
  } else {
    at->on_some_ways = at->on_some_ways && guard.on_some_ways;
  }
}

void add_ways(Guards& guards, const std::vector<Alternative>& left, const std::vector<Alternative>& left_out,
              ContextId context, BlockId block, const SymbolSets& symbols) {
  const auto is_open = [](const Alternative& each) { return each.elsewhere; };
  const auto is_doubtful = [](const Alternative& each) { return each.uncertain; };
  if (left.empty() || std::any_of(left.begin(), left.end(), is_open) ||
      std::any_of(left_out.begin(), left_out.end(), is_doubtful))
    return;
  for (const SymbolSets::Passage way : symbols.ways(left.front().symbols)) {
    const bool is_taken = std::all_of(left.begin(), left.end(), [&](const Alternative& each) {
      const std::vector<SymbolSets::Passage> own = symbols.ways(each.symbols);
      return std::binary_search(own.begin(), own.end(), way);
    });
    const bool says_something = std::any_of(left_out.begin(), left_out.end(), [&](const Alternative& each) {
      return symbols.is_apart_from(each.symbols, way);
    });
    Guard guard{context, block, true, 0, way};
    guard.is_check = true;
    if (is_taken && says_something) add_guard(guards, guard);
  }
}

Guards meet(const std::vector<const Guards*>& ways, const Meeting& meeting) {
  for (const Guards* each : ways) Effort::note(Effort::Of::kEntry, each->size());
  const bool same = are_equal(ways);
  Guards out = same ? *ways.front() : united(ways);
  const Guards of_all = same ? Guards() : common(ways);
  std::erase_if(out, [&](const Guard& each) {
    const bool own = !meeting.starts_loop && each.context == meeting.context;
    const bool stays = own ? !meeting.ends(each) : false;
    return !stays && !((!own || each.is_check) && (same || has(of_all, each)));
  });
  if (same) return out;
  for (Guard& each : out) {
    each.on_some_ways = !std::all_of(ways.begin(), ways.end(), [&](const Guards* way) {
      const auto at = std::lower_bound(way->begin(), way->end(), each, comes_before);
      return at != way->end() && !comes_before(each, *at) && !at->on_some_ways;
    });
  }
  return out;
}

std::vector<Side> sides_of(const std::vector<const Guards*>& ways, const Guards& in_force,
                           const Meeting& meeting, SymbolSets& symbols) {
  std::vector<Side> out(ways.size());
  if (meeting.starts_loop || ways.size() == 1) return out;
  const Guards of_all = common(ways);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const Guards& way = *ways[i];
    Guards passed;
    std::copy_if(way.begin(), way.end(), std::back_inserter(passed),
                 [&](const Guard& each) { return !has(of_all, each) || has_both_ways(way, each); });
    out[i] = side_of(std::move(passed), in_force, symbols);
  }
  return out;
}

Side side_of(Guards passed, const Guards& in_force, SymbolSets& symbols) {
  if (passed.empty()) return {};
  Side out;
  std::vector<SymbolSets::Passage> passages;
  for (const Guards* guards : {&std::as_const(passed), &in_force}) {
    for (const Guard& each : *guards) {
      if (guards == &passed) out.symbols = symbols.unite(out.symbols, each.symbols);
      if (each.passage)
        passages.push_back(each.on_some_ways ? SymbolSets::perhaps(each.passage) : each.passage);
    }
  }
  out.symbols = symbols.behind(out.symbols, std::move(passages));
  out.of_numbers = symbols.deciding(out.symbols);
  out.is_doubtful = is_doubtful(passed, in_force, symbols);
  out.guards = std::move(passed);
  return out;
}

SymbolSets::Relation relation(SymbolSetId conditions, const Guards& guards, const SymbolSets& symbols) {
  using Relation = SymbolSets::Relation;
  Relation out = Relation::kIndependent;
  if (!conditions) return out;
  Effort::note(Effort::Of::kAnswer, guards.size());
  for (const Guard& guard : guards) {
    const Relation one = symbols.relation(conditions, guard.symbols);
    const bool own = one == Relation::kCorrelated && symbols.is_behind(conditions, guard.passage);
    const bool excludes = !guard.on_some_ways &&
                          (one == Relation::kContradict || symbols.is_apart_from(conditions, guard.passage));
    out = std::max(out, own        ? Relation::kAgree
                        : excludes ? Relation::kContradict
                                   : std::min(one, Relation::kCorrelated));
  }
  return out;
}

Guards after_call(Guards before, const Guards& after, ContextId callee, SymbolSets& symbols) {
  SymbolSetId passed = 0;
  for (const Guard& guard : after) {
    if (!has(before, guard)) passed = symbols.unite(passed, guard.symbols);
  }
  if (passed) add_guard(before, {callee, 0, true, passed});
  return before;
}

}  // namespace dtype_guard::flow
