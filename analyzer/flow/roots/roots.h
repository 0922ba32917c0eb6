// Roots: functions some of whose callers may stand outside the analysed code. The setting fills what the code
// leaves open there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/flow/roots/other_methods.h"
#include "analyzer/flow/values/ranks.h"

namespace dtype_guard::flow {

// What other code may have done to the root's objects: costly to look at, and it only takes findings away.
enum class OtherCode : std::uint8_t { kLookedAt, kTrusted };

class Roots {
 public:
  Roots(const Subject& subject, RunningRoot& root, Names& names, Effects& effects, MadeHalf& made_half,
        Inputs& inputs, OtherMethods& others, Evaluator& evaluator)
      : program_(subject.program),
        index_(subject.index),
        options_(subject.options),
        setting_(subject.setting),
        root_(root),
        origins_(names.origins),
        symbols_(names.symbols),
        ids_(names.ids),
        effects_(effects),
        made_half_(made_half),
        inputs_(inputs),
        others_(others),
        evaluator_(evaluator) {}

  void evaluate_root(std::uint32_t function, const RankFacts& proved, OtherCode others, const RootCase& how);
  // Of a function that is evaluated for what happens in it: what it leaves, where it returns.
  std::optional<State> evaluate_caller(std::uint32_t function, const RootCase& how);

 private:
  std::optional<State> run_as(const std::string& class_name, std::uint32_t function, const RankFacts& proved,
                              OtherCode others);
  bool may_be_left_out(const Parameter& parameter) const;

  const Program& program_;
  const FunctionIndex& index_;
  const AnalysisOptions& options_;
  const PrecisionSetting& setting_;
  RunningRoot& root_;
  Origins& origins_;
  SymbolSets& symbols_;
  Identities& ids_;
  Effects& effects_;
  MadeHalf& made_half_;
  Inputs& inputs_;
  OtherMethods& others_;
  Evaluator& evaluator_;
};

}  // namespace dtype_guard::flow
