#include "sanitizer/symbolize/rank_differences.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

namespace dtype_guard::san {

namespace {

using RanksOfDtype = std::map<std::string, std::set<int>>;

std::string all_dtypes(const std::set<std::string>& dtypes) {
  std::string text;
  for (const std::string& dtype : dtypes) text += (text.empty() ? "" : " and ") + dtype;
  return text;
}

// Empty when all ranks have the same dtypes here. A rank that has two at one place is compared as such.
std::string difference(const std::string& role, const std::map<int, std::set<std::string>>& by_rank) {
  RanksOfDtype ranks;
  for (const auto& [rank, dtypes] : by_rank) ranks[all_dtypes(dtypes)].insert(rank);
  if (ranks.size() < 2) return "";
  std::vector<std::pair<std::string, std::vector<int>>> groups;
  for (const auto& [dtypes, members] : ranks)
    groups.emplace_back(dtypes, std::vector<int>(members.begin(), members.end()));
  // The odd ones first.
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  std::string text = role + " is";
  for (std::size_t i = 0; i < groups.size(); ++i)
    text += fmt::format("{} {} in {}", i == 0 ? "" : ",", groups[i].first, describe_ranks(groups[i].second));
  return text;
}

using Dtypes = std::map<std::string, std::string>;  // by role

struct ApiOfRank {
  std::set<Dtypes> dtypes;
  std::string place;  // of one call
};

// A few ranks that have taken another way: nowhere one place with two dtypes, but each of their calls of this
// API has dtypes that most ranks, who all have the same ones, never have. Nothing is said of fewer than four
// ranks: stages of a pipeline are all different.
std::optional<RankDifference> odd_ranks(const std::string& api, const std::map<int, ApiOfRank>& ranks) {
  std::map<std::set<Dtypes>, std::vector<int>> groups;
  for (const auto& [rank, calls] : ranks) groups[calls.dtypes].push_back(rank);
  if (ranks.size() < 4 || groups.size() != 2) return std::nullopt;
  auto few = groups.begin(), most = std::next(few);
  if (few->second.size() > most->second.size()) std::swap(few, most);
  if (4 * few->second.size() > ranks.size() || few->first.size() != 1 || most->first.size() != 1)
    return std::nullopt;
  std::string odd, usual;
  for (const auto& [role, dtype] : *few->first.begin()) {
    const auto other = most->first.begin()->find(role);
    if (other == most->first.begin()->end() || other->second == dtype) continue;
    odd += fmt::format("{}{} is {}", odd.empty() ? "" : ", ", role, dtype);
    usual += fmt::format("{}{} {}", usual.empty() ? "" : ", ", role, other->second);
  }
  if (odd.empty()) return std::nullopt;
  return RankDifference{api, ranks.at(few->second.front()).place,
                        fmt::format("{} in {}; at other places {} in {}", odd, describe_ranks(few->second),
                                    usual, describe_ranks(most->second))};
}

}  // namespace

std::string describe_ranks(const std::vector<int>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i;
    while (end + 1 < ranks.size() && ranks[end + 1] == ranks[end] + 1) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", ranks[i]);
    if (end > i) text += fmt::format("-{}", ranks[end]);
    i = end + 1;
  }
  return (ranks.size() == 1 ? "rank " : "ranks ") + text;
}

std::vector<RankDifference> rank_differences(const std::vector<RankCall>& calls) {
  std::map<std::pair<std::string, std::string>, std::map<std::string, std::map<int, std::set<std::string>>>>
      places;
  for (const RankCall& call : calls) {
    for (const auto& [role, dtype] : call.dtypes)
      places[{call.api, call.place}][role][call.rank].insert(dtype);
  }
  std::vector<RankDifference> found;
  for (const auto& [place, roles] : places) {
    std::string detail;
    for (const auto& [role, by_rank] : roles) {
      const std::string one = difference(role, by_rank);
      if (!one.empty()) detail += (detail.empty() ? "" : "; ") + one;
    }
    if (!detail.empty()) found.push_back({place.first, place.second, detail});
  }
  std::map<std::string, std::map<int, ApiOfRank>> apis;
  for (const RankCall& call : calls) {
    ApiOfRank& seen = apis[call.api][call.rank];
    seen.dtypes.insert(call.dtypes);
    seen.place = call.place;
  }
  for (const auto& [api, ranks] : apis) {
    const auto is_known = [&](const RankDifference& one) { return one.api == api; };
    if (std::any_of(found.begin(), found.end(), is_known)) continue;
    if (auto odd = odd_ranks(api, ranks)) found.push_back(std::move(*odd));
  }
  return found;
}

}  // namespace dtype_guard::san
