// Where a dtype came from. An Origin is the first instruction that decided the dtype a value still has: a
// promotion, a cast, or a source such as a factory. A Step is one instruction that the value passed through
// since; steps form chains back to their origin, so a path is rebuilt only for values that end in a finding.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/flow/values/values.h"

namespace dtype_guard::flow {

// The operation of an origin that is a conversion of a number, which has no other name.
inline constexpr const char* kConversion = "conversion";

struct Origin {
  enum class Kind : std::uint8_t { kSource, kCast, kPromotion };
  Kind kind = Kind::kSource;
  std::uint32_t function = 0;
  const Instruction* instruction = nullptr;
  std::string op;
  Dtype before = Dtype::kUndefined;  // of the (half) input; kUndefined for a source
  Dtype after = Dtype::kUndefined;
  bool by_autocast = false;
  StepId wide = 0;     // of a promotion: the trail of the input that was wide already
  std::string narrow;  // the input that had `before`, as written; empty when it is not a plain word
  OriginId over = 0;   // of a cast to the dtype that is there already: what made it so before
  // Of a cast: to the dtype of another tensor, which is wide for a reason of its own; from no known dtype.
  bool of_another = false, of_unknown = false;
  // Of a promotion: the setting alone makes its inputs differ, as the wide one is a buffer that it leaves so,
  // or the narrow one a parameter that it makes half.
  bool by_setting = false;

  // Whether it was asked for or not.
  bool widens_half() const {
    return kind != Kind::kSource && is_half(before) && is_floating(after) && bits(after) > bits(before);
  }
};

// What a step means to the rules beyond having passed by.
struct Step {
  enum class Kind : std::uint8_t {
    kPass,
    kDiscardedCast,  // cast to `other`, and the result dropped
    kPlainMember,    // kept in a member that module conversion does not reach
    kDescribed,      // said to be `after` while the data is `other`
  };
  StepId parent = 0;
  int depth = 0;
  std::uint32_t function = 0;
  const Instruction* instruction = nullptr;
  std::string op;
  Dtype before = Dtype::kUndefined;
  Dtype after = Dtype::kUndefined;
  std::string note;
  Kind kind = Kind::kPass;
  Dtype other = Dtype::kUndefined;
  OriginId origin = 0;
};

// Nodes are interned, so re-evaluating an instruction in a loop or another context finds the one it made
// before.
class Origins {
 public:
  OriginId origin(const Origin& origin);
  // A step after `parent`; of several parents the one nearest to the origin is kept.
  // Nothing meets steps of another run.
  StepId step(StepId parent, OriginId origin, Step step);
  using Run = std::uint32_t;
  Run run() const { return run_; }
  void begin_run() { run_ = ++runs_; }
  void go_on_with(Run run) { run_ = run; }
  const Step* step(StepId id) const { return id ? &steps_[id] : nullptr; }
  const Origin* find(OriginId id) const { return id ? &origins_[id] : nullptr; }
  // From the origin's own step to `last`.
  std::vector<const Step*> path(StepId last) const;
  // The last step of that kind; null: none.
  const Step* find(StepId last, Step::Kind kind) const;

 private:
  std::vector<Origin> origins_ = std::vector<Origin>(1);
  std::vector<Step> steps_ = std::vector<Step>(1);
  // By the instruction, the kind, both dtypes, whether autocast decided, what it is over, and what a cast is
  // of.
  using OriginKey = std::tuple<const Instruction*, Origin::Kind, Dtype, Dtype, bool, OriginId, bool, bool>;
  std::map<OriginKey, OriginId> origin_ids_;
  std::map<std::tuple<const Instruction*, OriginId, Dtype, std::string, Run>, StepId> step_ids_;
  Run run_ = 0, runs_ = 0;
};

}  // namespace dtype_guard::flow
