// Speculation: evaluating something to see what it would give, and taking back what that left behind.
//
// What evaluating leaves behind besides the state that it gives back is in Effects; of each of its members
// the kinds of speculation below say whether it is rolled back. A RunApart puts by all of the running root's,
// with what belongs to one run among the names (which objects stand for several, which run new steps of
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

struct Effects {
  SinkRecords sinks;
  std::vector<Value> inputs;  // of the root, as the setting made them, or as a check said since
  Value as_input(Value value);
  bool is_input(const Value& value) const;
  bool converted_to_half = false;  // the code did that to a module
  // Something went by which of the two half types it was: with the other one all may be otherwise. Stays, by
  // whatever kind of speculation it was found.
  bool tells_half_types_apart = false;
  void note_named(Dtype dtype) {
    const bool is_of_one = is_half(dtype) || dtype == Dtype::kComplex32;
    tells_half_types_apart = tells_half_types_apart || is_of_one;
  }
  std::size_t steps = 0;  // instructions that count against the budget of the root
};

// Which members of Effects are rolled back, of those that any kind rolls back.
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
  std::optional<SinkRecords> sinks_;
  std::optional<std::vector<Value>> inputs_;
  std::optional<bool> converted_to_half_;
  std::optional<std::size_t> steps_;
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
