// Classes that the program always makes half: found by evaluating what may convert them, each root apart.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "analyzer/flow/engine/evaluator.h"
#include "analyzer/flow/engine/memory/conversions.h"
#include "analyzer/flow/engine/subject.h"
#include "analyzer/flow/engine/work.h"

namespace dtype_guard::flow {

class MadeHalf {
 public:
  MadeHalf(const Subject& subject, Work& work, Names& names, Effects& effects, const Conversions& conversions,
           Evaluator& evaluator)
      : program_(subject.program),
        index_(subject.index),
        options_(subject.options),
        setting_(subject.setting),
        torch_version_(subject.torch_version),
        work_(work),
        ids_(names.ids),
        effects_(effects),
        conversions_(conversions),
        evaluator_(evaluator) {}

  bool contradicts_autocast(const State& state, const std::vector<Value>& arguments);
  bool buffers_are_made_half(const std::string& class_name);

  // Where the root is one of those that are evaluated for this.
  void begin_notes() { notes_halves_ = true; }
  bool takes_notes() const { return notes_halves_; }
  void begin_root() { noted_.halves = {}; }
  void note_run(std::uint32_t function) { noted_.has_run.insert(function); }
  void note_halves(const State& state, const std::vector<Value>& arguments,
                   const std::vector<HeapId>& handed);
  const HalvesOfRoot& noted() const { return noted_; }

 private:
  bool is_wholly_half(const State& state, HeapId module, Registration::Kind kind) const;
  const ClassesMadeHalf& classes_made_half();
  bool is_always(const std::set<std::string>& made_half, const std::string& class_name) const;

  const Program& program_;
  const FunctionIndex& index_;
  const AnalysisOptions& options_;
  const PrecisionSetting& setting_;
  const std::string& torch_version_;
  Work& work_;
  Identities& ids_;
  Effects& effects_;
  const Conversions& conversions_;
  Evaluator& evaluator_;
  bool notes_halves_ = false;
  HalvesOfRoot noted_;  // classes of the objects that the last root left so
};

}  // namespace dtype_guard::flow
