// Looking at roots: what each gives in one precision setting, by the rules of one release of PyTorch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "analyzer/flow/analysis.h"
#include "analyzer/flow/caller_casts.h"
#include "analyzer/flow/engine/interpreter/engine.h"
#include "analyzer/flow/findings/findings.h"

namespace dtype_guard::flow {

// What roots leave behind besides their findings. It holds nothing of the engine that saw it.
struct SeenByRoots {
  std::vector<SinkRecord> records;
  std::deque<Instruction> calls;  // of these records: their names and places
  FollowedCalls followed;
  std::vector<Refusal> refusals;
  std::vector<SourceRange> decided;  // calls of which a whole program's own code says that they are right
  std::size_t steps = 0;
  bool tells_half_types_apart = false;  // with the other one all may be otherwise

  void count(const Engine& engine);                     // what an evaluation took
  void note(const Engine& engine, std::uint32_t root);  // and what it recorded
};

class Pass {
 public:
  Pass(const Program& program, const AnalysisOptions& options, const PrecisionSetting& setting,
       const std::string& torch_version, Work& work)
      : program_(program),
        options_(options),
        setting_(setting),
        torch_version_(torch_version),
        work_(work),
        caller_casts_(program, options, setting, torch_version, work) {}

  // False when the root was given up; `problem` says why.
  bool look_at(std::uint32_t root, FindingCollector& collector, SeenByRoots& out, std::string& problem);
  // Whether in the last root there is nothing to find with either half type.
  bool is_settled() const { return is_settled_; }
  // What was run for the last root, and for others of its class.
  std::set<std::uint32_t> ran() const;

 private:
  void begin(std::uint32_t root);
  Engine& engine_for(std::uint32_t root);
  Engine* evaluate(std::uint32_t root, SeenByRoots& out, std::string& problem);
  void note_refusals(std::uint32_t root, const SinkRecord& record, Engine& engine, const DefectOptions& how,
                     const FindingCollector& collector, SeenByRoots& out) const;
  DefectOptions how_to_judge(const Engine& engine, std::uint32_t root) const;
  bool has_defects(Engine& engine, std::uint32_t root) const;
  void look_again(std::uint32_t root, const std::vector<SinkRecord>& records, std::vector<RankFacts>& proofs,
                  const RankFacts& proved, Engine& engine, const DefectOptions& how,
                  FindingCollector& collector, SeenByRoots& out);
  bool has_functions_by_default(std::uint32_t root) const;
  void look_at_default_object(std::uint32_t root, FindingCollector& collector, SeenByRoots& out);
  void look_at_default_call(std::uint32_t root, FindingCollector& collector, SeenByRoots& out);
  void look_at_witnesses(std::uint32_t root, FindingCollector& collector, SeenByRoots& out);
  void look_at_handed_objects(std::uint32_t root, Engine& engine, FindingCollector& collector,
                              SeenByRoots& out);
  void look_at_calls(std::uint32_t root, Engine& engine, FindingCollector& collector, SeenByRoots& out);
  bool look_at_case(std::uint32_t root, const RootCase& how, Engine& engine, SeenByRoots& out);
  void add_definite(std::uint32_t root, bool has_some, Engine& engine, FindingCollector& collector,
                    SeenByRoots& out);
  void note_decided(std::uint32_t root, Engine& engine, SeenByRoots& out) const;
  void add(std::uint32_t root, const Defect& defect, Engine& engine, const DefectOptions& how,
           FindingCollector& collector);

  const Program& program_;
  const AnalysisOptions& options_;
  const PrecisionSetting& setting_;
  const std::string& torch_version_;
  Work& work_;
  CallerCasts caller_casts_;
  std::unique_ptr<Engine> engine_;
  std::string owner_;                   // of the roots that it evaluates
  std::set<std::uint32_t> ran_before_;  // by another engine
  bool is_settled_ = false;
};

}  // namespace dtype_guard::flow
