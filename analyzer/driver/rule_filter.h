// --rules SPEC: which rules report. A list of ids keeps those only; "-id" removes one.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "rules/finding/finding.h"

namespace dtype_guard::driver {

class RuleFilter {
 public:
  RuleFilter() = default;
  // Throws UsageError for an id that the catalog does not have.
  explicit RuleFilter(const std::vector<std::string>& spec);
  bool enabled(const std::string& rule) const;
  // By "-rule"; a list of rules to keep does not drop the notes about suppressions of other rules.
  bool removed(const std::string& rule) const { return without_.count(rule) > 0; }
  // Of a list of rules to keep, the first that the finding breaks names it; false when there is none, or when
  // the finding's own rule is removed.
  bool apply(Finding& finding) const;

 private:
  std::set<std::string> only_;
  std::set<std::string> without_;
};

}  // namespace dtype_guard::driver
