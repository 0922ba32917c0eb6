// A symbol stands for something that the analysed code does not decide: a root's parameter, the result of an
// unknown callee, a field that nobody stored. Two conditions that share a symbol may be correlated, so an
// alternative that arrived under one of them is not known to pass the other. Where a condition is a symbol
// and nothing else, a set can say more: that the symbol is true, or that it is false.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace dtype_guard::flow {

// Interned sorted sets of symbols, each with what is said of it; set 0 is empty.
class SymbolSets {
 public:
  using Id = std::uint32_t;
  enum class Said : std::uint8_t { kDecides, kTrue, kFalse };
  // What two sets of conditions say of each other.
  enum class Relation : std::uint8_t {
    kIndependent,
    kAgree,       // what they share they say alike
    kCorrelated,  // they share something, and what each says of it is not known
    kContradict,  // they are never both true
  };

  Id of(std::uint32_t symbol, Said said = Said::kDecides);
  Id unite(Id a, Id b);
  Id intersect(Id a, Id b);
  bool has(Id set, std::uint32_t symbol) const;
  // The set as what something depends on.
  Id deciding(Id set);
  // The condition that the set's one symbol is true, or false; of several, that they decide.
  Id condition(Id set, bool is_true);
  Relation relation(Id a, Id b) const;
  bool conflict(Id a, Id b) const { return relation(a, b) >= Relation::kCorrelated; }

 private:
  struct Entry {
    std::uint32_t symbol = 0;
    Said said = Said::kDecides;
    friend auto operator<=>(const Entry&, const Entry&) = default;
  };
  using Set = std::vector<Entry>;  // one entry for each symbol
  Id intern(Set set);

  std::map<Set, Id> ids_ = {{Set{}, 0}};
  std::vector<const Set*> sets_ = {&ids_.begin()->first};
};

}  // namespace dtype_guard::flow
