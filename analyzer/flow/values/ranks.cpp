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

void join_ranks(RankFacts& into, const RankFacts& from) {
  if (into == from) return;
  RankFacts out;
  for (const auto& [symbol, rank] : into) {
    const auto theirs = place_of(from, symbol);
    if (theirs != from.end() && theirs->first == symbol) out.emplace_back(symbol, join(rank, theirs->second));
  }
  into = std::move(out);
}

Rank known_rank(const RankFacts& facts, Rank rank) {
  if (!rank.symbol) return rank;
  const auto fact = place_of(facts, rank.symbol);
  if (fact == facts.end() || fact->first != rank.symbol) return rank;
  return meet(rank, fact->second.plus(rank.offset)).value_or(rank);
}

bool learn_rank(RankFacts& facts, const Rank& rank, const Rank& interval) {
  const auto both = meet(known_rank(facts, rank), interval);
  if (!both) return false;
  if (!rank.symbol) return true;
  Rank own = interval;
  own.symbol = 0;
  own = own.plus(-rank.offset);
  const auto place = place_of(facts, rank.symbol);
  if (place == facts.end() || place->first != rank.symbol) {
    facts.emplace(place, rank.symbol, own);
    return true;
  }
  const auto narrowed = meet(place->second, own);
  if (!narrowed) return false;
  place->second = *narrowed;
  return true;
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
