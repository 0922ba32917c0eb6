// Whether edits cure a finding: the edited IR is evaluated in every precision setting, from the roots that
// may run what was edited, and compared with what the same roots say without the edits.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/flow/analysis.h"
#include "analyzer/flow/fixes/cast_edit.h"

namespace dtype_guard::flow {

class FixTrial {
 public:
  FixTrial(Module& module, const AnalysisOptions& options);
  // The finding is gone, no operand of any call breaks its contract that did not before or gets a dtype that
  // its call does not take, nothing is cast to what cannot hold it, and nothing more was given up.
  bool cures(const std::vector<CastEdit>& edits, const Finding& finding);
  // The limit to which the last answer no is owed; empty: none, the edits do not cure.
  const std::string& limit() const { return limit_; }

 private:
  // A place with a finding, and an operand of a call with one, each in one setting.
  using Key = std::tuple<std::string, std::string, int, int, std::string, std::string>;
  struct Verdict {
    std::set<Key> places;
    std::set<Key> operands;
    std::set<std::tuple<Key, std::uint32_t, Dtype>> refused;  // which root it comes from, and as what
    std::size_t given_up = 0;
    std::size_t roots = 0;  // that may run what was edited
  };
  Verdict judge(const std::vector<std::uint32_t>& functions) const;
  const Verdict& verdict_before(const std::vector<std::uint32_t>& functions);

  Module& module_;
  AnalysisOptions options_;
  ContractSet contracts_;  // and that of the casts which are tried
  std::vector<PrecisionSetting> settings_;
  std::map<std::vector<std::uint32_t>, Verdict> before_;
  std::size_t evaluated_ = 0;  // roots, over all trials
  std::string limit_;
};

}  // namespace dtype_guard::flow
