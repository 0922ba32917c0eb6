// Abstract values: what a program value may be. A Value is a small sorted set of alternatives; join is union,
// and of more than kMaxAlternatives the tensors of one dtype are one; what is still too many is Top. Values
// are immutable and shared: two places hold the same value exactly when they point to the same set, which is
// how a fact about one reaches the other (refine.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/flow/ir/ir.h"
#include "analyzer/flow/values/shared_row.h"

namespace dtype_guard::flow {

using HeapId = std::uint32_t;       // state.h; 0: none
using OriginId = std::uint32_t;     // origins.h; 0: none
using StepId = std::uint32_t;       // origins.h; 0: none
using ContextId = std::uint32_t;    // engine.h
using SymbolSetId = std::uint32_t;  // symbols.h; 0: the empty set
using RankSymbol = std::uint32_t;   // 0: none

inline constexpr std::size_t kMaxAlternatives = 8;

// An interval of dimensions; a wrapped number (a C++ scalar with an element type) has none. Values with the
// same symbol have the same number of dimensions but for their offsets, whatever it is (ranks.h).
struct Rank {
  static constexpr std::uint8_t kMany = 64;  // no upper bound
  bool wrapped = false;
  std::uint8_t min = 0;
  std::uint8_t max = kMany;
  std::int8_t offset = 0;
  RankSymbol symbol = 0;
  static Rank number() { return {true, 0, 0}; }
  static Rank exactly(std::int64_t dimensions);
  static Rank at_least(std::int64_t dimensions);
  Rank plus(int dimensions) const;
  bool is_exact() const { return min == max; }
  bool is_tied_to(const Rank& other) const {
    return symbol && symbol == other.symbol && offset == other.offset;
  }
  bool may_be_zero() const { return min == 0; }
  bool may_be_dimensioned() const { return max > 0; }
  friend bool operator==(const Rank&, const Rank&) = default;
};
Rank join(Rank a, Rank b);
// What both say, as `a`; nothing when they contradict each other.
std::optional<Rank> meet(Rank a, const Rank& b);

// A cell of a heap object: variable number, field (interned name) or index; any index, or the next one.
struct Key {
  enum class Kind : std::uint8_t { kVariable, kField, kIndex, kAny, kNext };
  Kind kind = Kind::kVariable;
  std::int64_t id = 0;
  friend auto operator<=>(const Key&, const Key&) = default;
};

// Of what may be a condition: whether it is its one symbol, or the opposite of that.
enum class Truth : std::uint8_t { kOther, kSymbol, kOpposite };

struct Alternative {
  enum class Kind : std::uint8_t {
    kTop,        // more than we keep apart; absorbs everything
    kUnknown,    // may be anything
    kNone,       // undefined tensor, absent optional, null pointer
    kTensor,     // dtype, rank, origin, trail
    kHandle,     // a tensor or buffer that others share: object is its heap cell
    kNumber,     // a Python or C++ number that promotes as a wrapped one; dtype is its category
    kBool,       //
    kString,     // `number` tells one from another
    kDtype,      // a dtype, or options that state one; kUndefined: not known which
    kOptions,    // options that leave the dtype to the default
    kState,      // saved autocast and default dtype: object is an index into the engine's snapshots
    kObject,     // instance or container
    kReference,  // object and key
    kClosure,    // function; object holds the captures
  };
  Kind kind = Kind::kUnknown;
  Dtype dtype = Dtype::kUndefined;
  HeapId object = 0;
  Key key;
  std::uint32_t function = 0;
  bool has_number = false;
  std::int64_t number = 0;  // of kNumber, kBool and kString
  OriginId origin = 0;

  // Not part of what tells alternatives apart:
  bool assumed = false;         // its dtype is the precision setting's choice, not the code's
  bool merged = false;          // stands for tensors of that dtype from more places than are kept apart
  bool uncertain = false;       // rests on an unknown dtype, rank or callee, or on a weakly updated cell
  bool of_several = false;      // of a tensor: one of several that look alike
  bool displaced = false;       // perhaps overwritten by a tensor of the same dtype
  bool elsewhere = false;       // of what is certain: may have got here under other conditions too
  bool handed_in = false;       // by a root's caller: may be no tensor, or no float, after all
  std::uint8_t lineage = 0;     // contractions.h
  SymbolSetId products = 0;     // the products of matrices that it comes from, likewise
  Rank rank;                    // of a number: the dimensions that it counts
  StepId trail = 0;             // the last step of the path from the origin
  StepId told = 0;              // kDtype: that of the tensor which was asked for it
  SymbolSetId symbols = 0;      // tensors: conditions under which it got here; others: what decides it
  Truth truth = Truth::kOther;  // of a kBool, kUnknown, or a number that a root is handed
  ContextId context = 0;        // kDtype and kBool: the activation and value that it was computed from
  ValueId source = 0;

  static Alternative of(Kind kind);
  static Alternative tensor(Dtype dtype, Rank rank, OriginId origin = 0, StepId trail = 0);
  static Alternative boolean(std::optional<bool> value);
  static Alternative integer(std::optional<std::int64_t> value);
  static Alternative real();
  static Alternative text(std::string_view value);
  static Alternative a_dtype(Dtype dtype);
  static Alternative at(Kind kind, HeapId object, Key key = {});
};
bool same_place_in_order(const Alternative& a, const Alternative& b);
// Whether its symbols are how it got here; of a number or a bool they are what it was computed from.
bool is_held(const Alternative& each);
bool operator==(const Alternative& a, const Alternative& b);

class SymbolSets;

class Value {
 public:
  Value() = default;  // bottom: never computed
  explicit Value(std::vector<Alternative> alternatives);
  explicit Value(const Alternative& alternative) : set_(std::span(&alternative, 1)) {}
  // In the order in which a value keeps them; they are copied.
  static Value of_sorted(std::span<const Alternative> alternatives) {
    return Value(SharedRow<Alternative>(alternatives));
  }
  static Value unknown(SymbolSetId symbols = 0, Truth truth = Truth::kOther);
  static Value none() { return Value(Alternative::of(Alternative::Kind::kNone)); }

  bool is_bottom() const { return !set_; }
  const Alternative* begin() const { return set_.begin(); }
  const Alternative* end() const { return set_.end(); }
  std::size_t size() const { return set_.size(); }
  std::vector<Alternative> alternatives() const { return {begin(), end()}; }  // for those who change them
  const Alternative* single() const { return set_.size() == 1 ? set_.begin() : nullptr; }
  bool same(const Value& other) const { return address() == other.address(); }
  const void* address() const { return set_.address(); }  // equal for values that are the same
  friend bool operator==(const Value& a, const Value& b);

 private:
  explicit Value(SharedRow<Alternative> sorted) : set_(std::move(sorted)) {}
  SharedRow<Alternative> set_;
};
// Whether it is among them. Where the value is not sure of it, that it is certain holds of another alone.
bool has(const Value& value, const Alternative& wanted);
// A value of its own unless both are one: whatever it looks like, what is learnt of an input is not learnt of
// it.
Value join(const Value& a, const Value& b, SymbolSets& symbols);
// Whether another of them, which is certain, is there in its place if it is there no longer.
bool is_displaced(const Alternative& each, const std::vector<Alternative>& all);
// Where the conditions under which it is certain are not met.
Alternative only_elsewhere(Alternative each);
// What these were joined to, with the tensors noted that different ones of them hold alike.
Value of_several(const Value& joined, const std::vector<const Value*>& ways);

// The truth of a condition where it is known.
std::optional<bool> truth(const Value& value);
// Everything that decides the value.
SymbolSetId symbols_of(const Value& value, SymbolSets& symbols);
// What is known where the bool is true, or where it is false.
SymbolSetId condition_of(const Value& value, bool is_true, SymbolSets& symbols);
// That of all alternatives.
Truth truth_of(const Value& value);

}  // namespace dtype_guard::flow
