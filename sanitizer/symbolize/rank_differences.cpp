#include "sanitizer/symbolize/rank_differences.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

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
  return found;
}

}  // namespace dtype_guard::san
