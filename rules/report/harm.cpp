#include "rules/report/harm.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "rules/dtype/dtype.h"

namespace dtype_guard {
namespace {

std::size_t bytes(const std::string& dtype) {
  const std::optional<Dtype> known = parse_dtype(dtype);
  return known ? (bits(*known) + 7) / 8 : 0;
}

auto rank(const Finding& finding) {
  const Harm done = harm(finding);
  return std::make_tuple(!is_open(finding), finding.level, finding.certainty, !done.kernel_lost,
                         ~done.extra_bytes, ~finding.count);
}

}  // namespace

Harm harm(const Finding& finding) {
  Harm done;
  done.kernel_lost = finding.rule == "silent-attention-fallback";
  for (const FindingOperand& operand : finding.operands) {
    if (operand.accepts.empty()) continue;
    std::size_t accepted = 0;
    for (const std::string& dtype : operand.accepts) accepted = std::max(accepted, bytes(dtype));
    std::size_t extra = 0;
    for (const std::string& dtype : operand.dtypes) {
      const bool taken =
          std::find(operand.accepts.begin(), operand.accepts.end(), dtype) != operand.accepts.end();
      done.kernel_lost |= !taken;
      if (!taken && bytes(dtype) > accepted) extra = std::max(extra, bytes(dtype) - accepted);
    }
    done.extra_bytes += extra;
  }
  return done;
}

std::vector<const Finding*> by_harm(const Report& report) {
  using Ranked = std::pair<decltype(rank(report.findings.front())), std::size_t>;
  std::vector<Ranked> ranked;
  ranked.reserve(report.findings.size());
  for (const Finding& finding : report.findings) ranked.emplace_back(rank(finding), ranked.size());
  std::sort(ranked.begin(), ranked.end());
  std::vector<const Finding*> ordered;
  ordered.reserve(ranked.size());
  for (const Ranked& each : ranked) ordered.push_back(&report.findings[each.second]);
  return ordered;
}

}  // namespace dtype_guard
