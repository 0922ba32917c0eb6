#include "rules/report/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <vector>

namespace dtype_guard {

void write_statistics(std::ostream& out, const Report& report) {
  struct Row {
    std::string_view rule;
    int count = 0, possible = 0, with_fix = 0;
  };
  std::map<std::string_view, Row> by_rule;
  for (const Finding& finding : report.findings) {
    if (!is_open(finding)) continue;
    Row& row = by_rule[finding.rule];
    row.rule = finding.rule;
    ++row.count;
    row.possible += finding.certainty == Certainty::kPossible ? 1 : 0;
    row.with_fix += finding.fixes.empty() ? 0 : 1;
  }
  std::vector<Row> rows;
  for (const auto& [rule, row] : by_rule) rows.push_back(row);
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.count > b.count; });
  for (const Row& row : rows) {
    std::string told;
    if (row.possible > 0) told += fmt::format(", {} possible", row.possible);
    if (row.with_fix > 0) told += fmt::format(", {} with a fix", row.with_fix);
    if (!told.empty()) told = fmt::format(" ({})", told.substr(2));
    out << fmt::format("{:>6}  {}{}\n", row.count, row.rule, told);
  }
}

}  // namespace dtype_guard
