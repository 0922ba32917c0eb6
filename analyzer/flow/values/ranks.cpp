#include "analyzer/flow/values/ranks.h"

#include <algorithm>

namespace dtype_guard::flow {
namespace {
template <typename Facts>
auto place_of(Facts& facts, RankSymbol symbol) {
  return std::lower_bound(facts.begin(), facts.end(), symbol,
                          [](const auto& fact, RankSymbol wanted) { return fact.first < wanted; });
}
}  // namespace

Rank RankFacts::known(Rank rank) const {
  if (!rank.symbol) return rank;
  const auto fact = place_of(facts_, rank.symbol);
  if (fact == facts_.end() || fact->first != rank.symbol) return rank;
  return meet(rank, fact->second.plus(rank.offset)).value_or(rank);
}

bool RankFacts::learn(const Rank& rank, const Rank& interval) {
  const auto both = meet(known(rank), interval);
  if (!both) return false;
  if (!rank.symbol) return true;
  Rank own = interval;
  own.symbol = 0;
  own = own.plus(-rank.offset);
  const auto place = place_of(facts_, rank.symbol);
  if (place == facts_.end() || place->first != rank.symbol) {
    facts_.emplace(place, rank.symbol, own);
    return true;
  }
  const auto narrowed = meet(place->second, own);
  if (!narrowed) return false;
  place->second = *narrowed;
  return true;
}

void RankFacts::join(const RankFacts& other) {
  if (*this == other) return;
  RankFacts out;
  for (const auto& [symbol, rank] : facts_) {
    const auto theirs = place_of(other.facts_, symbol);
    if (theirs != other.facts_.end() && theirs->first == symbol)
      out.facts_.emplace_back(symbol, flow::join(rank, theirs->second));
  }
  *this = std::move(out);
}

void RankFacts::take_over(const RankFacts& other) {
  for (const auto& fact : other.facts_) {
    const auto place = place_of(facts_, fact.first);
    if (place != facts_.end() && place->first == fact.first) {
      place->second = fact.second;
    } else {
      facts_.insert(place, fact);
    }
  }
}

void RankFacts::forget(const std::unordered_set<RankSymbol>& symbols) {
  std::erase_if(facts_, [&](const auto& fact) { return symbols.contains(fact.first); });
}

namespace {
constexpr std::int64_t kListMark = 1;  // of a number that is not known, which has 0
}

Alternative sizes_of(const Rank& rank) {
  Alternative out = Alternative::integer(std::nullopt);
  out.number = kListMark;
  out.rank = rank;
  return out;
}

bool is_list_of_sizes(const Alternative& each) {
  return each.kind == Alternative::Kind::kNumber && !each.has_number && each.number == kListMark;
}

Value without_length(const Value& value) {
  if (std::none_of(value.begin(), value.end(), is_list_of_sizes)) return value;
  std::vector<Alternative> out = value.alternatives();
  for (Alternative& each : out) {
    if (is_list_of_sizes(each)) each.rank = {};
  }
  return Value(std::move(out));
}

}  // namespace dtype_guard::flow
