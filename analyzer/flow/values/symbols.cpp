#include "analyzer/flow/values/symbols.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "analyzer/flow/values/effort.h"

namespace dtype_guard::flow {
namespace {

// Calls both(x, y) for the entries that two sets have of one symbol, and one(x) for the others, in order.
template <typename Entries, typename Both, typename One>
void walk(const Entries& a, const Entries& b, Both both, One one) {
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

// Which way of which branch, made for certain or not.
constexpr SymbolSets::Passage way(SymbolSets::Passage passage) { return passage >> 1U; }
constexpr bool is_certain(SymbolSets::Passage passage) { return passage != 0 && passage % 2 == 0; }
constexpr SymbolSets::Passage other_way(SymbolSets::Passage passage) { return passage ^ 2U; }

template <typename Passages>
Passages common(const Passages& a, const Passages& b) {
  Passages out;
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    if (way(*x) == way(*y)) {
      out.push_back(*x++ | *y++);
    } else {
      ++(way(*x) < way(*y) ? x : y);
    }
  }
  return out;
}

constexpr std::array kNatures = {Nature::kAnswer,  Nature::kShape, Nature::kArgument,
                                 Nature::kSetting, Nature::kRound, Nature::kKeyword};
constexpr std::uint8_t bit(Nature nature) { return static_cast<std::uint8_t>(1 << static_cast<int>(nature)); }

// What an unknown function answers may hang on anything. What a caller hands in goes with the shapes that it
// hands in (`is_decoding`, and one token), and one shape with another. A setting was chosen before either,
// and of several options none is taken to be chosen by another.
constexpr bool hang_together(Nature a, Nature b) {
  if (a == Nature::kRound || b == Nature::kRound) return false;
  if (a == Nature::kAnswer || b == Nature::kAnswer) return true;
  if (a == Nature::kShape) return b != Nature::kSetting;
  return b == Nature::kShape && (a == Nature::kArgument || a == Nature::kKeyword);
}

std::uint64_t both(SymbolSets::Id a, SymbolSets::Id b) {
  return std::uint64_t{std::min(a, b)} << 32U | std::max(a, b);
}

// Of two things that were said of one symbol.
SymbolSets::Said both_said(SymbolSets::Said a, SymbolSets::Said b) {
  return a == b ? a : SymbolSets::Said::kDecides;
}

// What both say, with one(entries, x) for what one of them says alone.
template <typename Set, typename One>
Set met(const Set& a, const Set& b, One one) {
  Set out;
  out.entries.reserve(a.entries.size() + b.entries.size());
  walk(
      a.entries, b.entries,
      [&](const auto& x, const auto& y) {
        out.entries.push_back({x.symbol, both_said(x.said, y.said)});
      },
      [&](const auto& x) { one(out.entries, x); });
  out.passages = common(a.passages, b.passages);
  return out;
}

}  // namespace

std::size_t SymbolSets::Hash::operator()(const Set& set) const {
  constexpr std::size_t kMix = 0x9E3779B97F4A7C15;
  std::size_t out = set.entries.size();
  for (const Entry& each : set.entries)
    out = (out ^ (std::size_t{each.symbol} << 8U | static_cast<std::size_t>(each.said))) * kMix;
  for (const Passage each : set.passages) out = (out ^ each) * kMix;
  return out ^ (out >> 32U);
}

SymbolSets::Id SymbolSets::intern(Set set) {
  if (set.entries.empty()) set.passages.clear();
  Effort::note(Effort::Of::kSymbol, set.entries.size() + set.passages.size());
  const auto [found, is_new] = ids_.try_emplace(std::move(set), static_cast<Id>(sets_.size()));
  if (!is_new) return found->second;
  Known known{&found->first, 0, 0};
  for (const Entry& each : found->first.entries) {
    if (each.said == Said::kChecked) continue;
    const Nature nature = each.symbol < natures_.size() ? natures_[each.symbol] : Nature::kAnswer;
    known.natures |= bit(nature);
    for (const Nature other : kNatures) {
      if (hang_together(nature, other)) known.partners |= bit(other);
    }
  }
  sets_.push_back(known);
  return found->second;
}

void SymbolSets::set_nature(Symbol symbol, Nature nature) {
  if (natures_.size() <= symbol) natures_.resize(symbol + std::size_t{1});
  natures_[symbol] = nature;
}

SymbolSets::Id SymbolSets::of(Symbol symbol, Said said) {
  constexpr std::size_t kSaid = static_cast<std::size_t>(Said::kFalse) + 1;
  const std::size_t at = symbol * kSaid + static_cast<std::size_t>(said);
  if (of_one_.size() <= at) of_one_.resize((symbol + 1) * kSaid);
  if (of_one_[at] == 0) of_one_[at] = intern({{{symbol, said}}, {}});
  return of_one_[at];
}

SymbolSets::Id SymbolSets::unite(Id a, Id b) {
  if (a == b || b == 0) return a;
  if (a == 0) return b;
  Effort::note(Effort::Of::kUnited);
  const auto [known, is_new] = united_.try_emplace(both(a, b));
  if (!is_new) return known->second;
  Set out = met(*sets_[a].set, *sets_[b].set, [](auto& all, const Entry& x) { all.push_back(x); });
  return known->second = intern(std::move(out));
}

SymbolSets::Id SymbolSets::intersect(Id a, Id b) {
  if (a == b) return a;
  const auto [known, is_new] = common_.try_emplace(both(a, b));
  if (!is_new) return known->second;
  Set out = met(*sets_[a].set, *sets_[b].set, [](auto&, const Entry&) {});
  return known->second = intern(std::move(out));
}

SymbolSets::Id SymbolSets::either(Id a, Id b) {
  if (a == b) return a;
  const auto [known, is_new] = either_.try_emplace(both(a, b));
  if (!is_new) return known->second;
  Set out = met(*sets_[a].set, *sets_[b].set, [](auto& all, const Entry& x) {
    all.push_back({x.symbol, std::min(x.said, Said::kDecides)});
  });
  return known->second = intern(std::move(out));
}

bool SymbolSets::has(Id set, Symbol symbol) const {
  const auto at = std::lower_bound(entries(set).begin(), entries(set).end(), symbol,
                                   [](const Entry& each, Symbol wanted) { return each.symbol < wanted; });
  return at != entries(set).end() && at->symbol == symbol;
}

bool SymbolSets::rests_on(Id set, Nature nature) const { return (sets_[set].natures & bit(nature)) != 0; }

bool SymbolSets::demands(Id set, Nature nature) const {
  if (!rests_on(set, nature)) return false;
  return std::any_of(entries(set).begin(), entries(set).end(), [&](const Entry& each) {
    const bool of_nature = each.symbol < natures_.size() && natures_[each.symbol] == nature;
    return of_nature && (each.said == Said::kDecides || each.said == Said::kTrue);
  });
}

SymbolSets::Id SymbolSets::deciding(Id set) {
  const auto [known, is_new] = deciding_.try_emplace(set);
  if (!is_new) return known->second;
  Set out{entries(set), {}};
  for (Entry& each : out.entries) each.said = std::min(each.said, Said::kDecides);
  return known->second = intern(std::move(out));
}

SymbolSets::Id SymbolSets::checked(Id set) {
  Set out{entries(set), {}};
  for (Entry& each : out.entries) each.said = each.said == Said::kDecides ? Said::kChecked : each.said;
  return intern(std::move(out));
}

SymbolSets::Id SymbolSets::without_rounds(Id set) {
  Set out = *sets_[set].set;
  std::erase_if(out.entries, [&](const Entry& each) {
    return each.symbol < natures_.size() && natures_[each.symbol] == Nature::kRound;
  });
  return intern(std::move(out));
}

SymbolSets::Id SymbolSets::without(Id set, Id others) {
  if (!share(set, others)) return set;
  Set out = *sets_[set].set;
  std::erase_if(out.entries, [&](const Entry& each) { return has(others, each.symbol); });
  return intern(std::move(out));
}

bool SymbolSets::share(Id a, Id b) const {
  if (a == b) return a != 0;
  auto x = entries(a).begin();
  auto y = entries(b).begin();
  while (x != entries(a).end() && y != entries(b).end()) {
    if (x->symbol == y->symbol) return true;
    ++(x->symbol < y->symbol ? x : y);
  }
  return false;
}

SymbolSets::Id SymbolSets::condition(Id set, bool is_true) {
  if (entries(set).size() != 1 || entries(set).front().said == Said::kChecked) return deciding(set);
  return of(entries(set).front().symbol, is_true ? Said::kTrue : Said::kFalse);
}

SymbolSets::Id SymbolSets::behind(Id set, std::vector<Passage> passages) {
  std::sort(passages.begin(), passages.end());
  const auto last =
      std::unique(passages.begin(), passages.end(), [](Passage a, Passage b) { return way(a) == way(b); });
  passages.erase(last, passages.end());
  return intern({entries(set), std::move(passages)});
}

bool SymbolSets::is_behind(Id set, Passage passage) const {
  const std::vector<Passage>& all = sets_[set].set->passages;
  return passage && std::binary_search(all.begin(), all.end(), passage,
                                       [](Passage a, Passage b) { return way(a) < way(b); });
}

std::vector<SymbolSets::Passage> SymbolSets::ways(Id set) const {
  std::vector<Passage> out = sets_[set].set->passages;
  std::erase_if(out, [](Passage each) { return !is_certain(each); });
  return out;
}

bool SymbolSets::is_apart_from(Id set, Passage passage) const {
  const std::vector<Passage>& all = sets_[set].set->passages;
  return is_certain(passage) && std::binary_search(all.begin(), all.end(), other_way(passage));
}

SymbolSets::Relation SymbolSets::relation(Id a, Id b) const {
  const std::vector<Passage>& passed = sets_[a].set->passages;
  if (std::any_of(passed.begin(), passed.end(), [&](Passage each) { return is_apart_from(b, each); }))
    return Relation::kContradict;
  const auto is_plain = [](const Entry& each) { return each.said <= Said::kDecides; };
  const bool together = (sets_[a].partners & sets_[b].natures) != 0;
  Effort::note(Effort::Of::kSymbol, entries(a).size() + entries(b).size());
  Relation out = together ? Relation::kCorrelated : Relation::kIndependent;
  walk(
      entries(a), entries(b),
      [&](const Entry& x, const Entry& y) {
        const Relation one = is_plain(x) || is_plain(y) ? Relation::kCorrelated
                             : x.said == y.said         ? Relation::kAgree
                                                        : Relation::kContradict;
        out = std::max(out, one);
      },
      [](const Entry&) {});
  return out;
}

}  // namespace dtype_guard::flow
