// The abstract interpreter. It evaluates one root function under one precision setting: blocks of a function
// in reverse postorder until their states stop changing, calls by evaluating the callee in the caller's state
// (so a callee is seen once per call path), recursion for three rounds. Operators get their dtypes from
// rules/operators; every call that has a contract leaves a SinkRecord, on which the rule queries work.
//
// It is put together of parts. Each knows those that stand before it, keeps what it alone needs, and
// re-enters the engine through Evaluator where what it found is to be run.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/flow/engine/calls/calls.h"
#include "analyzer/flow/engine/calls/stubs.h"
#include "analyzer/flow/engine/conditions/conditions.h"
#include "analyzer/flow/engine/dtype_state.h"
#include "analyzer/flow/engine/memory/objects.h"
#include "analyzer/flow/engine/operations/casts.h"
#include "analyzer/flow/engine/operations/dynamic_operators.h"
#include "analyzer/flow/engine/operations/marks.h"
#include "analyzer/flow/engine/operations/scalars.h"
#include "analyzer/flow/engine/watched_values.h"
#include "analyzer/flow/roots/known_cases.h"

namespace dtype_guard::flow {

class Engine final : public Evaluator {
 public:
  Engine(const Program& program, const AnalysisOptions& options, const PrecisionSetting& setting,
         const std::string& torch_version, Work& work);

  // Evaluates the function with inputs from the setting. Throws BudgetExceeded, and then keeps no records of
  // it. `proved` is taken for granted of ranks.
  void evaluate_root(std::uint32_t function, const RankFacts& proved = {},
                     OtherCode others = OtherCode::kLookedAt, const RootCase& how = {});
  std::size_t count_of_objects() const { return ids_.count_of_objects(); }
  const RootCase& root_case() const { return root_.how; }  // of the last root
  KnownCases& known_cases() { return known_cases_; }
  bool tells_half_types_apart() const { return effects_.tells_half_types_apart(); }
  // What a call proves of ranks that are the same in all of the root, unless it throws.
  RankFacts proved_by(const SinkRecord& record) const { return ranks_.proved_by(record); }

  const std::set<std::uint32_t>& ran() const { return ran_; }  // all functions so far

  std::vector<SinkRecord> records() const { return sinks_.records(); }
  const FollowedCalls& calls() const { return calls_.followed(); }
  const Origins& origins() const { return names_.origins; }
  bool converted_to_half() const { return effects_.converted_to_half(); }  // the code did that to a module
  // Of the last root and its objects.
  std::size_t steps() const { return effects_.steps() + inputs_.steps(); }
  SymbolSets& symbols() { return symbols_; }
  const Program& program() const { return subject_.program; }
  void watch(WatchedValues* watched) {
    watched_ = watched;
    sinks_.keep_origins();
  }
  const std::string& device() const { return options_.device; }

  // Where the parts re-enter it.
  Value call(std::uint32_t function, std::vector<Value> arguments, State& state, ContextId context,
             const Activation* caller, bool& alive, const Instruction* site = nullptr) override;
  Value operation(const Activation& activation, const Instruction& instruction, State& state) override;
  Value object_asked_for(const std::string& class_name, const Activation& activation, const Instruction& test,
                         State& state) override;
  HalvesOfRoot halves_of(std::uint32_t root) override;

 private:
  using Edges = std::vector<std::pair<std::size_t, State>>;  // target slot and state

  void run(Activation& activation, State entry);
  Edges execute(Activation& activation, BlockId block, State state);
  void note_watched(const Instruction& instruction, const State& state);
  // transfer.cpp: false when the path ends here.
  bool transfer(Activation& activation, const Instruction& instruction, State& state);

  Subject subject_;
  const FunctionIndex& index_ = subject_.index;
  const AnalysisOptions& options_ = subject_.options;
  Work& work_;  // shared with other engines
  Names names_;
  SymbolSets& symbols_ = names_.symbols;
  Identities& ids_ = names_.ids;
  RunningRoot root_;
  Effects effects_;
  Sightings sightings_;
  WatchedValues* watched_ = nullptr;
  std::set<std::uint32_t> ran_;

  Stubs stubs_{index_};
  DtypeState dtypes_{options_.device, effects_};
  Questions questions_{names_};
  Rounds rounds_{names_};
  Memory memory_{subject_.program, names_, questions_, rounds_};
  Objects objects_{index_, names_, sightings_, questions_, rounds_, memory_};
  Conversions conversions_{subject_.program, root_, names_, effects_, memory_};
  Registrations registrations_{subject_.program, root_, names_, memory_};
  Ranks ranks_{names_, root_, rounds_, memory_};
  Conditions conditions_{subject_.program, names_, effects_, memory_, *this};
  Casts casts_{names_, memory_};
  Marks marks_{names_, memory_};
  Sinks sinks_{subject_, names_, effects_, questions_, rounds_, memory_};
  MadeHalf made_half_{subject_, work_, names_, effects_, conversions_, *this};
  Inputs inputs_{subject_, root_, names_, effects_, memory_, made_half_, *this};
  OtherMethods others_{subject_.program, names_, effects_, memory_, inputs_, *this};
  Operators operators_{subject_, names_, effects_, rounds_, memory_, ranks_};
  Scalars scalars_{subject_, names_, effects_, questions_, memory_, ranks_};
  Dictionaries dictionaries_{names_, questions_};
  DynamicOperators dynamic_{names_,        rounds_,      memory_,        ranks_,
                            dictionaries_, conversions_, registrations_, *this};
  LibraryModules modules_{subject_, root_,  names_,     effects_,    questions_,    rounds_,
                          memory_,  sinks_, operators_, conditions_, dictionaries_, *this};
  Escapes escapes_{subject_, root_, names_, effects_, questions_, memory_, sinks_, inputs_, *this};
  Calls calls_{subject_,       root_,   names_,   effects_, questions_,    memory_,
               registrations_, inputs_, escapes_, modules_, dictionaries_, *this};
  Roots roots_{subject_, root_, names_, effects_, made_half_, inputs_, others_, *this};
  KnownCases known_cases_{subject_, names_, effects_, sightings_, inputs_, roots_};
};

}  // namespace dtype_guard::flow
