#include "analyzer/driver/rule_filter.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/driver/usage_error.h"
#include "rules/catalog/catalog.h"

namespace dtype_guard::driver {

namespace {
constexpr std::string_view kVersionDependent = "version-dependent-dtype";
}

RuleFilter::RuleFilter(const std::vector<std::string>& spec) {
  for (const std::string& each : spec) {
    const bool removed = each.starts_with("-");
    const std::string id = removed ? each.substr(1) : each;
    if (!find_rule(id)) {
      const std::string near = nearest_rule(id);
      throw UsageError(fmt::format("--rules: unknown rule '{}'{}; --list-rules prints them all", id,
                                   near.empty() ? "" : fmt::format(", did you mean '{}'?", near)));
    }
    (removed ? without_ : only_).insert(id);
  }
}

bool RuleFilter::enabled(const std::string& rule) const {
  return without_.count(rule) == 0 && (only_.empty() || only_.count(rule) != 0);
}

bool RuleFilter::apply(Finding& finding) const {
  if (enabled(finding.rule)) return true;
  // Its other rules describe the same defect: what is switched off must not come back under another name.
  // That it depends on the version is a remark about a defect which stands by itself.
  if (removed(finding.rule) && finding.rule != kVersionDependent) return false;
  const auto next = std::find_if(finding.also_rules.begin(), finding.also_rules.end(),
                                 [&](const std::string& rule) { return enabled(rule); });
  if (next == finding.also_rules.end()) return false;
  finding.rule = *next;
  finding.also_rules.erase(next);
  return true;
}

}  // namespace dtype_guard::driver
