// A symbol stands for something that the analysed code does not decide: a root's parameter, the result of an
// unknown callee, a field that nobody stored. Two conditions that share a symbol may be correlated, so an
// alternative that arrived under one of them is not known to pass the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

namespace dtype_guard::flow {

// Interned sorted sets of symbols; set 0 is empty.
class SymbolSets {
 public:
  using Set = std::vector<std::uint32_t>;
  std::uint32_t intern(Set set) {
    const auto [found, is_new] = ids_.try_emplace(std::move(set), static_cast<std::uint32_t>(sets_.size()));
    if (is_new) sets_.push_back(&found->first);
    return found->second;
  }
  std::uint32_t unite(std::uint32_t a, std::uint32_t b) {
    if (a == b || b == 0) return a;
    if (a == 0) return b;
    Set out;
    std::set_union(sets_[a]->begin(), sets_[a]->end(), sets_[b]->begin(), sets_[b]->end(),
                   std::back_inserter(out));
    return intern(std::move(out));
  }
  std::uint32_t intersect(std::uint32_t a, std::uint32_t b) {
    if (a == b) return a;
    Set out;
    std::set_intersection(sets_[a]->begin(), sets_[a]->end(), sets_[b]->begin(), sets_[b]->end(),
                          std::back_inserter(out));
    return intern(std::move(out));
  }
  bool has(std::uint32_t set, std::uint32_t symbol) const {
    return std::binary_search(sets_[set]->begin(), sets_[set]->end(), symbol);
  }

 private:
  std::map<Set, std::uint32_t> ids_ = {{Set{}, 0}};
  std::vector<const Set*> sets_ = {&ids_.begin()->first};
};

}  // namespace dtype_guard::flow
