// Roots: functions some of whose callers may stand outside the analysed code. The setting fills what the code
// leaves open there.
#pragma once

#include <string>
#include <vector>

#include "analyzer/flow/roots/other_methods.h"
#include "analyzer/flow/values/ranks.h"

namespace dtype_guard::flow {

// What other code may have done to the root's objects: costly to look at, and it only takes findings away.
enum class OtherCode : std::uint8_t { kLookedAt, kTrusted };

class Roots {
 public:
  Roots(const Subject& subject, RunningRoot& root, Names& names, Effects& effects, MadeObjects& made,
        MadeHalf& made_half, Inputs& inputs, OtherMethods& others, Evaluator& evaluator)
      : program_(subject.program),
        index_(subject.index),
        options_(subject.options),
        setting_(subject.setting),
        root_(root),
        origins_(names.origins),
        symbols_(names.symbols),
        ids_(names.ids),
        effects_(effects),
        made_(made),
        made_half_(made_half),
        inputs_(inputs),
        others_(others),
        evaluator_(evaluator) {}

  void evaluate_root(std::uint32_t function, const RankFacts& proved, OtherCode others);
  std::size_t find_witnesses(std::uint32_t root);  // witnesses.cpp: how many that the program itself makes
  std::size_t find_calls(std::uint32_t root);      // handed.cpp: how many that hand it something known

 private:
  void evaluate_as(const std::string& type, std::uint32_t root, const RankFacts& proved, OtherCode others);
  bool may_be_left_out(const Parameter& parameter) const;
  void note_witnesses(const State& state);
  void hand_over_arguments(const Function& root, std::vector<Value>& arguments, ContextId context,
                           State& state);

  const Program& program_;
  const FunctionIndex& index_;
  const AnalysisOptions& options_;
  const PrecisionSetting& setting_;
  RunningRoot& root_;
  Origins& origins_;
  SymbolSets& symbols_;
  Identities& ids_;
  Effects& effects_;
  MadeObjects& made_;
  MadeHalf& made_half_;
  Inputs& inputs_;
  OtherMethods& others_;
  Evaluator& evaluator_;
};

}  // namespace dtype_guard::flow
