// What the engine tells apart, by numbers: contexts (one way to come to a place in the code), objects,
// symbols, ranks and fields. What is made at one place in one context has one number however often it is
// evaluated, so that states meet; a number once given stays. Numbers are given in the order in which they are
// asked for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyzer/flow/state/state.h"
#include "analyzer/flow/values/symbols.h"
#include "analyzer/flow/values/values.h"

namespace dtype_guard::flow {

class Identities {
 public:
  explicit Identities(SymbolSets& symbols) : symbols_(symbols) {}

  ContextId context(ContextId parent, const void* site);

  // `sub` tells apart what is made at one place.
  HeapId object(ContextId context, const void* site, int sub = 0);
  std::size_t count_of_objects() const { return objects_.size(); }
  // While instructions may run again each object stands for those of all rounds.
  bool in_round() const { return in_round_; }
  void set_in_round(bool in_round) { in_round_ = in_round; }
  // Summary objects, which stand for several.
  bool stands_for_several(HeapId object) const { return several_.contains(object); }
  void note_several(HeapId object) { several_.insert(object); }
  const std::unordered_set<HeapId>& several() const { return several_; }
  void set_several(const std::unordered_set<HeapId>& several) { several_ = several; }

  SymbolSets::Symbol symbol_number(ContextId context, const void* site, int sub);
  std::optional<SymbolSets::Symbol> known_symbol(ContextId context, const void* site, int sub) const;
  SymbolSetId symbol(ContextId context, const void* site, int sub = 0);
  SymbolSetId choice(Nature nature, ContextId context, const void* site, int sub = 0);
  // Decides what has several constants as alternatives, `for (bool up : {false, true})`: one symbol for all
  // such conditions, since any two may ask the same.
  SymbolSetId undecided() { return choice(Nature::kShape, 0, nullptr); }
  // One symbol for each such text.
  SymbolSetId question(Nature nature, const std::string& text);
  // What decides a field of an object, and whatever else one function writes along with it.
  SymbolSetId of_field(Nature nature, HeapId object, std::int64_t field);
  SymbolSetId of_writer(Nature nature, HeapId object, std::uint32_t writer);
  // A field of what a root or a constructor is handed and nothing is known of: a question of its own, as a
  // field of an object is. Of any other unknown a field hangs on whatever that does.
  Value field_of_unknown(const Alternative& unknown, const std::string& name);

  RankSymbol rank(ContextId context, const void* site, int sub = 0);

  Key field(const std::string& name);
  const std::string& field_name(std::int64_t id) const { return field_names_[static_cast<std::size_t>(id)]; }

 private:
  using Place = std::tuple<ContextId, const void*, int>;
  struct Hash {
    std::size_t operator()(const Place& place) const;
  };
  SymbolSets& symbols_;
  std::unordered_map<Place, ContextId, Hash> contexts_;
  std::unordered_map<Place, HeapId, Hash> objects_;
  std::unordered_map<Place, SymbolSets::Symbol, Hash> symbol_numbers_;
  std::unordered_map<Place, RankSymbol, Hash> ranks_;
  std::map<std::string, int> questions_;
  std::unordered_map<std::string, std::int64_t> fields_;
  std::vector<std::string> field_names_;
  std::unordered_set<HeapId> several_;
  bool in_round_ = false;
};

}  // namespace dtype_guard::flow
