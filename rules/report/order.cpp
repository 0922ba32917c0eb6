#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>

#include "rules/report/report.h"
#include "rules/text/printable.h"

namespace dtype_guard {
namespace {

// The order that people see first (file, line, column, rule); the rest only makes it total.
auto order_of(const Finding& f) {
  return std::tie(f.location.file, f.location.line, f.location.column, f.rule, f.api, f.location.function,
                  f.message);
}

FingerprintKey key_of(const Finding& finding) {
  FingerprintKey key{finding.rule, finding.location.function, "", finding.api};
  for (const PathStep& step : finding.path) key.expression += step.op + step.before + ">" + step.after + ";";
  return key;
}

// Equal items keep their order. (std::stable_sort draws a deprecated function out of libstdc++ 12 under
// clang.)
template <typename Item, typename Less>
void sort_stably(std::vector<Item>& items, Less less) {
  std::vector<std::size_t> order(items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (less(items[a], items[b])) return true;
    return !less(items[b], items[a]) && a < b;
  });
  std::vector<Item> sorted;
  sorted.reserve(items.size());
  for (std::size_t index : order) sorted.push_back(std::move(items[index]));
  items.swap(sorted);
}

void make_unique(std::vector<Finding>& findings) {
  std::map<std::string, int> seen;
  for (Finding& finding : findings) {
    const std::string first = finding.fingerprint;
    const int ordinal = seen[first]++;
    finding.fingerprint = fingerprint_with_ordinal(first, ordinal);
    if (finding.first_fingerprint.empty()) finding.first_fingerprint = first;
  }
}

}  // namespace

std::vector<std::string> equal_fingerprints(const Finding& finding, int count) {
  std::vector<std::string> made{finding.fingerprint};
  if (finding.first_fingerprint.empty()) return made;
  for (int ordinal = 0; ordinal < count; ++ordinal)
    made.push_back(fingerprint_with_ordinal(finding.first_fingerprint, ordinal));
  return made;
}

void normalise(Report& report) {
  for (Finding& finding : report.findings) {
    if (finding.fingerprint.empty()) finding.fingerprint = fingerprint(key_of(finding));
  }
  sort_stably(report.findings, [](const Finding& a, const Finding& b) { return order_of(a) < order_of(b); });
  make_unique(report.findings);
  sort_stably(report.not_analysed, [](const NotAnalysed& a, const NotAnalysed& b) {
    return std::tie(a.file, a.function, a.reason, a.detail) <
           std::tie(b.file, b.function, b.reason, b.detail);
  });
}

bool is_failure(const NotAnalysed& entry) {
  static constexpr std::array<std::string_view, 5> kReasons = {"parse-error", "crash", "timeout",
                                                               "unreadable", "no-command"};
  return std::find(kReasons.begin(), kReasons.end(), entry.reason) != kReasons.end();
}

std::string not_seen(const Report& report) {
  std::set<std::string> names;
  for (const NotAnalysed& entry : report.not_analysed)
    if (entry.reason == kNotSeen) names.insert(printable(entry.function));
  return names.empty() ? "" : fmt::format("; not seen: calls of {}", fmt::join(names, ", "));
}

bool is_open(const Finding& finding) {
  return !finding.suppression && finding.baseline != "unchanged" && finding.baseline != "fixed";
}

Summary summarise(const Report& report) {
  Summary summary;
  for (const Finding& finding : report.findings) {
    if (finding.baseline == "fixed") {
      ++summary.fixed;
    } else if (finding.suppression) {
      ++summary.suppressed;
    } else if (finding.baseline == "unchanged") {
      ++summary.unchanged;
    } else {
      summary.errors += finding.level == Level::kError ? 1 : 0;
      summary.warnings += finding.level == Level::kWarning ? 1 : 0;
      summary.notes += finding.level == Level::kNote ? 1 : 0;
    }
  }
  summary.not_analysed = report.not_analysed.size();
  summary.files = report.files_analysed;
  for (const CheckedCall& call : report.calls) {
    ++summary.calls;
    summary.undecided += call.decided() ? 0 : 1;
  }
  if (report.watched) {
    for (const auto& [api, calls] : report.watched->calls) summary.calls += calls;
  }
  return summary;
}

}  // namespace dtype_guard
