// The abstract machine's state at one point of one activation: values computed so far, the heap, the autocast
// and default-dtype state of the thread, and the undecided branches taken to get here. Locals live in a frame
// object of the heap, so a place is always a cell of a heap object and references to locals need nothing
// special.
#pragma once

#include <bitset>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/flow/state/cells.h"
#include "analyzer/flow/state/guards.h"
#include "analyzer/flow/state/shared_array.h"
#include "analyzer/flow/state/shared_until_changed.h"
#include "analyzer/flow/values/ranks.h"
#include "analyzer/flow/values/shared.h"
#include "analyzer/flow/values/symbols.h"
#include "analyzer/flow/values/values.h"
#include "rules/dtype/dtype_set.h"

namespace dtype_guard::flow {

struct Registration {
  enum class Kind : std::uint8_t { kParameter, kBuffer, kModule };
  Kind kind = Kind::kParameter;
  std::string name;
  Value value;  // a handle or an object
  friend bool operator==(const Registration&, const Registration&) = default;
};

// A record: what an instruction does to an object its file writes here. What has to hold between members is
// the members' own (Cells, SharedUntilChanged).
struct HeapObject {
  enum class Kind : std::uint8_t { kFrame, kInstance, kContainer, kTensor, kBuffer, kClosure };
  Kind kind = Kind::kInstance;
  TypeName type;
  Cells cells;  // a tensor's or buffer's contents are its cell kContents
  Value rest;   // any cell that is not listed; bottom: none was stored
  SharedUntilChanged<std::vector<Registration>> registered;
  bool stated = false;              // a conversion of this tensor was seen in the code
  bool left_half = false;           // the code made it half, and then handed it to code that is not in sight
  bool of_setting = false;          // which converted this tensor of a root's module, and nothing did since
  SymbolSetId symbols = 0;          // what decides a field that was never stored
  bool is_input = false;            // of a root, and such a field cannot have changed since
  Nature nature = Nature::kAnswer;  // of these, where it is
  // Of a list of a module's parts: what one names in turn is each of them, or else one of them.
  enum class Stands : std::uint8_t { kForItself, kForEach, kForOne };
  Stands stands = Stands::kForItself;
  // Converted as one of several that were taken in turn. Where that was done on one path only, it may have
  // been done to others than this one.
  bool one_by_one = false;
  bool may_be_shorter = false;  // a list that one way to here put more into than another
  std::uint32_t more = 0;       // elements that a list surely has behind those that it may have
  HeapId original = 0;          // the object that it was copied from, which knows of such a field
  friend bool operator==(const HeapObject&, const HeapObject&) = default;

  static constexpr Key kContents{Key::Kind::kIndex, 0};
  static constexpr Key kOne{Key::Kind::kNext, 0};  // of a list of parts: what one of them is
};
// In all but the cells and the rest.
inline bool are_alike_but_for_values(const HeapObject& a, const HeapObject& b) {
  return a.kind == b.kind && a.type == b.type && a.registered == b.registered && a.stated == b.stated &&
         a.symbols == b.symbols && a.is_input == b.is_input && a.nature == b.nature && a.stands == b.stands &&
         a.one_by_one == b.one_by_one && a.original == b.original && a.of_setting == b.of_setting &&
         a.left_half == b.left_half && a.may_be_shorter == b.may_be_shorter && a.more == b.more;
}
using HeapPointer = Shared<const HeapObject>;

// Autocast of the device under analysis, and of others as far as the code says.
struct AutocastState {
  bool may_be_on = false;
  bool may_be_off = true;
  bool assumed = false;                                 // switched on by the precision setting
  Dtype dtype = Dtype::kUndefined;                      // kUndefined: not known
  std::map<std::string, AutocastState> elsewhere = {};  // by device; absent: not known
  bool dtype_where_on = false;                          // where it is off, another dtype may be set
  friend bool operator==(const AutocastState&, const AutocastState&) = default;
};

// Which values some objects may hold: says yes for each that they hold, and seldom for another. A fact about
// a value must reach all its places, and looking into every object for them would be most of the work.
class HeldValues {
 public:
  void add(const HeapPointer& object);
  bool may_hold(const Value& value) const { return may_hold(value.address()); }
  bool may_hold(const void* address) const;

 private:
  static constexpr std::size_t kBits = 1024;
  static std::pair<std::size_t, std::size_t> bits_of(const void* address);
  std::bitset<kBits> bits_;
};
using Heap = SharedArray<HeapPointer, HeldValues>;

struct NoSummary {
  void add(const Value& /*entry*/) {}
};
using Values = SharedArray<Value, NoSummary>;

// A check of a tensor's dtype that was passed on every path to here.
struct PassedTest {
  ContextId context = 0;
  const Instruction* test = nullptr;   // the assume or branch
  const Instruction* where = nullptr;  // the condition, which has a position
  ValueId tested = 0;                  // the tensor, in the function that holds the test
  std::uint32_t function = 0;
  DtypeSet passes;
  BlockId block = 0, otherwise = 0;  // of a branch: where it stands, and where the other outcome goes on
  friend bool operator==(const PassedTest&, const PassedTest&) = default;
  friend bool operator<(const PassedTest& a, const PassedTest& b) {
    return std::tuple(a.context, a.test, a.tested, a.passes.bits()) <
           std::tuple(b.context, b.test, b.tested, b.passes.bits());
  }
};

// Those that were passed on every path to here: at most kMost, of which generated code must not make more.
class PassedTests {
 public:
  void add(const PassedTest& test);
  // Where paths meet.
  void keep_those_of(const PassedTests& other);
  template <typename Is>
  void forget_if(Is is) {
    std::erase_if(tests_, is);
  }
  std::size_t size() const { return tests_.size(); }
  auto begin() const { return tests_.begin(); }
  auto end() const { return tests_.end(); }
  friend bool operator==(const PassedTests&, const PassedTests&) = default;

 private:
  static constexpr std::size_t kMost = 64;
  std::vector<PassedTest> tests_;  // in their order
};

// A record, like what it holds: whatever evaluates an instruction writes it. What is sorted or shared keeps
// itself so (PassedTests, RankFacts, Values, Heap); nothing has to hold between one member and another.
struct State {
  Values values;  // of the running activation, by ValueId
  Heap heap;      // the objects by id; null: none
  AutocastState autocast;
  Dtype default_dtype = Dtype::kFloat32;  // kUndefined: not known
  Guards guards;
  PassedTests tests;
  RankFacts ranks;  // what is proved of them
  // A check said that an input which the setting makes half is not: the others may be like that one.
  bool other_inputs_are_guessed = false;
  bool module_is_half = false;  // the code made one half on every path to here

  const HeapObject* find(HeapId id) const;
  HeapObject& change(HeapId id);  // copies when shared; makes a plain instance when absent
  void put(HeapId id, HeapObject object);
  void erase(HeapId id);
  friend bool operator==(const State& a, const State& b);
};

// Of equal states: whether places that hold one value in the first hold one in the second, so that what is
// learnt of one of them is learnt of the others there too.
bool tells_apart_alike(const State& before, const State& now);

// What is known where these meet. Alternatives that only some of them have remember the undecided branches
// that led there.
State join(const std::vector<const State*>& ways, SymbolSets& symbols, const Meeting& meeting,
           const std::vector<Side>& rounds = {});
// Alternatives of what the heap holds that were not there before got here under these conditions, and those
// of them that came under one of the questions are not known to.
void note_conditions(Heap& heap, const Heap& before, SymbolSetId conditions, SymbolSetId questions,
                     SymbolSets& symbols);

// `value` with every alternative marked as resting on something not known.
Value weakened(const Value& value);
// Whether all alternatives are tensors of one dtype, each for certain: which of them it is makes no
// difference.
bool agree(const Value& value);
// A cell that may or may not have been overwritten: old contents that differ become uncertain, and so do the
// new.
Value weak_update(const Value& old_value, const Value& new_value, SymbolSets& symbols);

}  // namespace dtype_guard::flow
