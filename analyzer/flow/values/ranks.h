// What is proved of ranks that stay unknown. A symbol stands for the number of dimensions that one value has,
// once it is made: an input of the root, or the result of an instruction that runs once there. So what a
// check or an operator proves of one value holds for every other with its symbol, and two values of unknown
// rank can be known to have the same.
#pragma once

#include <unordered_set>
#include <utility>
#include <vector>

#include "analyzer/flow/values/values.h"

namespace dtype_guard::flow {

class RankFacts {
 public:
  // The rank with what is proved of its symbol.
  Rank known(Rank rank) const;
  // Adds that `rank` is in that interval. False when that contradicts what is proved, which then stays.
  bool learn(const Rank& rank, const Rank& interval);
  // Leaves what both paths proved.
  void join(const RankFacts& other);
  // What the other one says of a symbol is said in place of what was proved of it.
  void take_over(const RankFacts& other);
  void forget(const std::unordered_set<RankSymbol>& symbols);
  bool empty() const { return facts_.empty(); }
  friend bool operator==(const RankFacts&, const RankFacts&) = default;

 private:
  std::vector<std::pair<RankSymbol, Rank>> facts_;  // by symbol, in their order
};

// A tensor's sizes: a number of them that is not known, or as many as `rank` says.
Alternative sizes_of(const Rank& rank);
bool is_list_of_sizes(const Alternative& each);
// What is kept in a place may be changed there: how long a list of sizes is is not known then.
Value without_length(const Value& value);

}  // namespace dtype_guard::flow
