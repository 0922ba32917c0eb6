#include "analyzer/flow/guards.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace dtype_guard::flow {
namespace {

bool has(const Guards& guards, const Guard& guard) {
  return std::binary_search(guards.begin(), guards.end(), guard);
}

bool has_opposite(const Guards& guards, const Guard& guard) {
  return std::any_of(guards.begin(), guards.end(), [&](const Guard& each) {
    return each.context == guard.context && each.block == guard.block && each.taken != guard.taken;
  });
}

}  // namespace

void add_guard(Guards& guards, const Guard& guard) {
  const auto at = std::lower_bound(guards.begin(), guards.end(), guard);
  if (at == guards.end() || *at != guard) guards.insert(at, guard);
}

Sides join_guards(Guards& into, const Guards& from, const Meeting& meeting, SymbolSets& symbols) {
  Sides out;
  if (into == from) return out;
  Guards left;
  const auto add_side = [&](const Guards& side, const Guards& other, SymbolSetId& lost) {
    for (const Guard& guard : side) {
      const bool own = !meeting.starts_loop && guard.context == meeting.context;
      if (!has(other, guard)) {
        if (!meeting.starts_loop) lost = symbols.unite(lost, guard.symbols);
        if (own && !meeting.ends(guard)) left.push_back(guard);
      } else if (&side == &into) {
        const bool both_ways = own && (has_opposite(into, guard) || has_opposite(from, guard));
        if (!both_ways || !meeting.ends(guard)) left.push_back(guard);
      }
    }
  };
  add_side(into, from, out.into);
  add_side(from, into, out.from);
  std::sort(left.begin(), left.end());
  into = std::move(left);
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
