#include "analyzer/flow/symbols.h"

#include <algorithm>
#include <utility>

namespace dtype_guard::flow {
namespace {

// Calls both(x, y) for the entries that two sets have of one symbol, and one(x) for the others, in order.
template <typename Set, typename Both, typename One>
void walk(const Set& a, const Set& b, Both both, One one) {
  auto x = a.begin();
  auto y = b.begin();
  while (x != a.end() && y != b.end()) {
    if (x->symbol == y->symbol) {
      both(*x++, *y++);
    } else {
      one(x->symbol < y->symbol ? *x++ : *y++);
    }
  }
  std::for_each(x, a.end(), one);
  std::for_each(y, b.end(), one);
}

}  // namespace

SymbolSets::Id SymbolSets::intern(Set set) {
  const auto [found, is_new] = ids_.try_emplace(std::move(set), static_cast<Id>(sets_.size()));
  if (is_new) sets_.push_back(&found->first);
  return found->second;
}

SymbolSets::Id SymbolSets::of(std::uint32_t symbol, Said said) { return intern({{symbol, said}}); }

SymbolSets::Id SymbolSets::unite(Id a, Id b) {
  if (a == b || b == 0) return a;
  if (a == 0) return b;
  Set out;
  walk(
      *sets_[a], *sets_[b],
      [&](const Entry& x, const Entry& y) {
        out.push_back({x.symbol, x.said == y.said ? x.said : Said::kDecides});
      },
      [&](const Entry& x) { out.push_back(x); });
  return intern(std::move(out));
}

SymbolSets::Id SymbolSets::intersect(Id a, Id b) {
  if (a == b) return a;
  Set out;
  walk(
      *sets_[a], *sets_[b],
      [&](const Entry& x, const Entry& y) {
        out.push_back({x.symbol, x.said == y.said ? x.said : Said::kDecides});
      },
      [](const Entry&) {});
  return intern(std::move(out));
}

bool SymbolSets::has(Id set, std::uint32_t symbol) const {
  return std::any_of(sets_[set]->begin(), sets_[set]->end(),
                     [&](const Entry& each) { return each.symbol == symbol; });
}

SymbolSets::Id SymbolSets::deciding(Id set) {
  const auto is_plain = [](const Entry& each) { return each.said == Said::kDecides; };
  if (std::all_of(sets_[set]->begin(), sets_[set]->end(), is_plain)) return set;
  Set out = *sets_[set];
  for (Entry& each : out) each.said = Said::kDecides;
  return intern(std::move(out));
}

SymbolSets::Id SymbolSets::condition(Id set, bool is_true) {
  if (sets_[set]->size() != 1) return deciding(set);
  return of(sets_[set]->front().symbol, is_true ? Said::kTrue : Said::kFalse);
}

SymbolSets::Relation SymbolSets::relation(Id a, Id b) const {
  Relation out = Relation::kIndependent;
  walk(
      *sets_[a], *sets_[b],
      [&](const Entry& x, const Entry& y) {
        const bool said = x.said != Said::kDecides && y.said != Said::kDecides;
        const Relation one = !said              ? Relation::kCorrelated
                             : x.said == y.said ? Relation::kAgree
                                                : Relation::kContradict;
        out = std::max(out, one);
      },
      [](const Entry&) {});
  return out;
}

}  // namespace dtype_guard::flow
