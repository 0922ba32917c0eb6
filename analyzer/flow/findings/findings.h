// From defects to findings: rule and precedence, message, path, and the merging of what several calls,
// contexts and precision settings say about the same instruction.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyzer/flow/edits/round_flow.h"
#include "analyzer/flow/queries/query.h"
#include "rules/finding/finding.h"

namespace dtype_guard::flow {

// A finding before it is merged with what other roots and settings say of the same instruction.
struct CollectedFinding {
  Finding finding;
  std::string expression;
  SourceLocation promoting;    // which may be elsewhere than the place to edit
  bool ends_before = false;    // its place is a store that refuses, or a check
  bool is_slow = false;        // a product by hand that takes what is wide
  bool opens_at_call = false;  // of what was never half: the layer's call is the place to edit
};

class FindingCollector {
 public:
  FindingCollector(const Module& module, const AnalysisOptions& options)
      : module_(module), options_(options), rounds_(module) {}
  void add(const Defect& defect, const Engine& engine, const std::string& setting,
           const std::string& torch_version);
  // One that was kept from an analysis before.
  void add(const CollectedFinding& kept) { merge(kept); }
  // Until told otherwise, what is added is kept there as well.
  void keep_in(std::vector<CollectedFinding>* kept) { kept_ = kept; }
  // Until told otherwise, what is added counts in that file alone; null: anywhere.
  void only_in(const std::string* file) { only_in_ = file; }
  Sink sink(const SinkRecord& record, const std::string& role) const;
  // Sorted by file, line, column and rule; fingerprints filled.
  std::vector<Finding> take();

 private:
  using Entry = CollectedFinding;
  SourceLocation location(const SourceRange& range, std::uint32_t function) const;
  RoundsAround comes_back(const Defect& defect, const Finding& finding);
  std::vector<PathStep> path(const Defect& defect, const Engine& engine) const;
  std::vector<FindingOperand> operands(const Defect& defect, const Engine& engine, bool has_path) const;
  void merge(Entry entry);
  void drop_longer_accounts();
  static bool same_matter(const Entry& a, const Entry& b);
  void add_versions(Finding& finding) const;

  const Module& module_;
  const AnalysisOptions& options_;
  std::vector<Entry> entries_;
  std::vector<CollectedFinding>* kept_ = nullptr;
  const std::string* only_in_ = nullptr;
  RoundFlow rounds_;
  std::map<std::pair<const Instruction*, const Instruction*>, RoundsAround>
      comes_back_;  // by origin and sink
};

}  // namespace dtype_guard::flow
