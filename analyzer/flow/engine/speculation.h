// Speculation: evaluating something to see what it would give, and taking back what that left behind.
//
// What evaluating leaves behind besides the state that it gives back is in Effects; of each of them the
// kinds of speculation below say whether it is rolled back. A RunApart puts by all of the running root's,
// with what belongs to one run among the names (which are summary objects, which run new steps of
// origins are of), and puts it back. Other names (the numbers of contexts, objects and symbols, origins, what
// is known of rounds) are facts that hold in any run. The running activation puts back its own (the ranks
// that it changed, whether it is in a loop) where it ends.
#pragma once

#include <cstddef>
#include <optional>
#include <unordered_set>
#include <vector>

#include "analyzer/flow/engine/sink_records.h"
#include "analyzer/flow/engine/subject.h"
#include "analyzer/flow/values/values.h"

namespace dtype_guard::flow {

// Which effects are rolled back, of those that any kind of speculation rolls back.
struct RolledBack {
  bool sinks, inputs, converted_to_half, steps;
};
// What a method of an object would do to it, which the root does not run: nothing of it happens.
inline constexpr RolledBack kOtherMethod{true, true, true, true};
// One of several that a call may run, which is paid for.
inline constexpr RolledBack kOneOverride{true, true, true, false};
// What runs some day, or for another class: its calls are looked at, its conversions are not the root's.
inline constexpr RolledBack kAnotherRun{false, false, true, false};
// A root that is given up half way is no evidence of anything.
inline constexpr RolledBack kGivenUp{true, false, false, false};

class Effects {
 public:
  SinkRecords& sinks() { return sinks_; }
  const SinkRecords& sinks() const { return sinks_; }
  // What the setting hands in, and what a check said of it since.
  Value as_input(Value value);
  bool is_input(const Value& value) const;
  const std::vector<Value>& inputs() const { return inputs_; }
  void note_conversion_to_half() { converted_to_half_ = true; }
  bool converted_to_half() const { return converted_to_half_; }  // the code did that to a module
  // Something went by which of the two half types it was: with the other one all may be otherwise. Stays, by
  // whatever kind of speculation it was found.
  void note_half_types_told_apart() { tells_half_types_apart_ = true; }
  void note_named(Dtype dtype) {
    if (is_half(dtype) || dtype == Dtype::kComplex32) note_half_types_told_apart();
  }
  bool tells_half_types_apart() const { return tells_half_types_apart_; }
  std::size_t count_step() { return ++steps_; }
  std::size_t steps() const { return steps_; }  // that count against the budget of the root

  // What making an object left, but for its steps.
  void add_of_object(const Effects& made, SymbolSets& symbols);

  // A copy of what is rolled back.
  struct Kept {
    std::optional<SinkRecords> sinks;
    std::optional<std::vector<Value>> inputs;
    std::optional<bool> converted_to_half;
    std::optional<std::size_t> steps;
  };
  Kept kept(const RolledBack& rolled_back) const;
  void roll_back(Kept kept);

 private:
  SinkRecords sinks_;
  std::vector<Value> inputs_;  // of the root
  bool converted_to_half_ = false;
  bool tells_half_types_apart_ = false;
  std::size_t steps_ = 0;
};

class Speculation {
 public:
  Speculation(Effects& effects, const RolledBack& rolled_back);
  ~Speculation();
  Speculation(const Speculation&) = delete;
  Speculation& operator=(const Speculation&) = delete;
  // It came to its end, and its effects stay.
  void keep() { kept_ = true; }

 private:
  Effects& effects_;
  Effects::Kept before_;
  bool kept_ = false;
};

// A run of something else before the running root goes on: it begins without effects.
class RunApart {
 public:
  RunApart(Effects& effects, Names& names);
  ~RunApart();
  RunApart(const RunApart&) = delete;
  RunApart& operator=(const RunApart&) = delete;

 private:
  Effects& effects_;
  Names& names_;
  Effects of_root_;
  std::unordered_set<HeapId> several_;
  Origins::Run run_;
};

}  // namespace dtype_guard::flow
