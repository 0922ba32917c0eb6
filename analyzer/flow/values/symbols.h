// A symbol stands for something that the analysed code does not decide: a root's parameter, the result of an
// unknown callee, a field that was never stored. An alternative remembers which of them decided that it got
// here; one that arrived under some condition is not known to pass another that may be correlated with it.
// Which may be, goes by the nature of what they ask: see `hang_together` in symbols.cpp. Where a condition is
// a symbol and nothing else, a set can say more: that the symbol is true, or that it is false.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace dtype_guard::flow {

// What decides a question.
enum class Nature : std::uint8_t {
  kAnswer,    // unseen code, or a state that may be anything
  kShape,     // dimensions, device and presence of tensors, and how many there are
  kArgument,  // what a root is handed
  kSetting,   // what an object was made with, long before
  kRound,     // which round of a loop it is
  kKeyword,   // whether a root is handed something by a name that none of its parameters has
};

// Interned sorted sets of symbols, each with what is known of it; set 0 is empty.
class SymbolSets {
 public:
  using Id = std::uint32_t;
  using Symbol = std::uint32_t;
  // A branch of one activation, and which way it went; 0: none. Where the branch may be come to again, or not
  // all that is told of a passage has made it, it says nothing of the other way.
  using Passage = std::uint32_t;
  static Passage passage(Symbol branch, bool taken, bool may_repeat) {
    return (branch + 1) << 2U | (taken ? 2U : 0U) | (may_repeat ? 1U : 0U);
  }
  static bool are_of_one_branch(Passage a, Passage b) { return a >> 2U == b >> 2U; }
  static Passage perhaps(Passage passage) { return passage | 1U; }
  // kChecked: where it were otherwise the code throws, so that it says nothing of other questions.
  enum class Said : std::uint8_t { kChecked, kDecides, kTrue, kFalse };
  // What two sets of conditions say of each other.
  enum class Relation : std::uint8_t {
    kIndependent,
    kAgree,       // what they share they say alike
    kCorrelated,  // they share something, or may, and what each says of it is not known
    kContradict,  // they are never both true, or for certain behind opposite ways of one branch
  };

  // Before the symbol is first used; kAnswer where that is not said.
  void set_nature(Symbol symbol, Nature nature);
  Id of(Symbol symbol, Said said = Said::kDecides);
  Id unite(Id a, Id b);
  Id intersect(Id a, Id b);
  // As conditions of which one or the other was met: what one of them alone says is not said.
  Id either(Id a, Id b);
  bool has(Id set, Symbol symbol) const;
  bool rests_on(Id set, Nature nature) const;
  // Whether it holds only where a symbol of that nature does, or may.
  bool demands(Id set, Nature nature) const;
  // The set as what something depends on.
  Id deciding(Id set);
  Id checked(Id set);
  // The condition that the set's one symbol is true, or false; of several, that they decide.
  Id condition(Id set, bool is_true);
  Id without_rounds(Id set);
  Id without(Id set, Id others);
  // Whether they have a symbol in common.
  bool share(Id a, Id b) const;
  // As conditions that were all met behind these branches.
  Id behind(Id set, std::vector<Passage> passages);
  bool is_behind(Id set, Passage passage) const;
  // The ways that it is behind for certain; whether it is behind the other way of that one's branch.
  std::vector<Passage> ways(Id set) const;
  bool is_apart_from(Id set, Passage passage) const;
  Relation relation(Id a, Id b) const;
  bool conflict(Id a, Id b) const { return relation(a, b) >= Relation::kCorrelated; }

 private:
  struct Entry {
    Symbol symbol = 0;
    Said said = Said::kDecides;
    friend auto operator<=>(const Entry&, const Entry&) = default;
  };
  struct Set {
    std::vector<Entry> entries;     // one for each symbol
    std::vector<Passage> passages;  // sorted
    friend bool operator==(const Set&, const Set&) = default;
  };
  struct Hash {
    std::size_t operator()(const Set& set) const;
  };
  using Natures = std::uint8_t;  // a bit for each
  struct Known {
    const Set* set = nullptr;
    Natures natures = 0;   // of what is not only checked
    Natures partners = 0;  // what may hang together with one of these
  };
  const std::vector<Entry>& entries(Id set) const { return sets_[set].set->entries; }
  Id intern(Set set);

  // By both; most are asked for again and again.
  std::unordered_map<std::uint64_t, Id> united_, common_, either_;
  std::unordered_map<Id, Id> deciding_;
  std::vector<Id> of_one_;  // sets of one symbol, by the symbol and its nature; 0: not made yet
  std::unordered_map<Set, Id, Hash> ids_ = {{Set{}, 0}};
  std::vector<Known> sets_ = {{&ids_.begin()->first, 0, 0}};
  std::vector<Nature> natures_;  // by symbol
};

}  // namespace dtype_guard::flow
