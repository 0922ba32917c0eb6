#include "sanitizer/symbolize/cast_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "rules/dtype/dtype.h"
#include "sanitizer/contracts/dtype_names.h"
#include "sanitizer/sources/cupti/names/kernel_name.h"
#include "sanitizer/sources/cupti/parameters.h"
#include "sanitizer/symbolize/launch_findings.h"

namespace dtype_guard::san {

namespace {

using cupti::KernelKind;

// The kernel's own word (at::ScalarType + 1) or else what its name says; nothing when neither does.
std::optional<Dtype> dtype_of(std::uint32_t scalar_type, std::uint32_t named) {
  if (scalar_type != 0) {
    if (scalar_type > kDtypeCount) return std::nullopt;
    return static_cast<Dtype>(scalar_type - 1);  // the same numbers
  }
  return named != 0 ? parse_dtype(dtype_name(named)) : std::nullopt;
}

struct Cast {
  const JournalCast* record;
  std::optional<Dtype> before;
  Dtype after;
};

std::optional<Cast> understand(const Journal& journal, const JournalCast& record) {
  const auto name = std::find_if(journal.launches.begin(), journal.launches.end(),
                                 [&](const auto& launch) { return launch.place.index == record.cast; });
  if (name == journal.launches.end() || record.role >= cupti::kInputs) return std::nullopt;
  const cupti::KernelName kernel = cupti::read_kernel_name(name->place.api);
  if (kernel.kind != KernelKind::kCast ||
      cupti::read_kernel_name(record.place.api).kind != KernelKind::kAttention)
    return std::nullopt;
  const auto before = dtype_of(record.x_type, kernel.dtype_of("x"));
  const auto after = dtype_of(record.out_type, kernel.dtype_of("out"));
  if (record.x_type != 0 && !before) return std::nullopt;  // a dtype of a later PyTorch
  if (!after || before == after || !is_floating(*after) || (before && !is_floating(*before)))
    return std::nullopt;
  return Cast{&record, before, *after};
}

std::uint64_t bytes_of(const Cast& cast) {
  const std::uint64_t read = cast.before ? bits(*cast.before) / 8U : 0;
  return cast.record->elements * cast.record->place.count * (read + cast.record->element_size);
}

std::string amount(double value, std::initializer_list<const char*> units, double step) {
  auto unit = units.begin();
  for (; value >= step && unit + 1 != units.end(); ++unit) value /= step;
  return fmt::format("{:.{}f} {}", value, unit == units.begin() || value >= 100 ? 0 : 1, *unit);
}

Finding describe(const std::vector<Cast>& casts) {
  std::set<std::string> named;
  std::uint64_t bytes = 0, count = 0, timed = 0, ns = 0, calls = 0;
  for (const Cast& cast : casts) {
    named.insert(cupti::kInputRoles[cast.record->role]);
    bytes += bytes_of(cast);
    count += cast.record->place.count;
    timed += cast.record->timed;
    ns += cast.record->ns;
    calls = std::max(calls, cast.record->place.count);
  }
  std::vector<std::string> roles;
  for (const char* role : cupti::kInputRoles)
    if (named.count(role) != 0) roles.emplace_back(role);
  const Cast& first = casts.front();
  Finding finding;
  finding.rule = "attention-implicit-promotion";
  finding.level = Level::kNote;
  finding.certainty = Certainty::kPossible;
  finding.message =
      fmt::format("{} {} cast {}to {} right before the attention that reads {}: {} {} moved {}",
                  in_words(roles), roles.size() == 1 ? "is" : "are",
                  first.before ? fmt::format("from {} ", name(*first.before)) : std::string(),
                  name(first.after), roles.size() == 1 ? "it" : "them", count, count == 1 ? "cast" : "casts",
                  amount(static_cast<double>(bytes), {"bytes", "KiB", "MiB", "GiB", "TiB"}, 1024));
  if (timed != 0)
    finding.message +=
        fmt::format(", about {} on the device ({} timed)",
                    amount(static_cast<double>(ns) / static_cast<double>(timed) * static_cast<double>(count),
                           {"ns", "us", "ms", "s"}, 1000),
                    timed);
  finding.observed = {"runtime"};
  finding.device = "cuda";
  finding.count = calls;
  for (const std::string& role : roles) {
    FindingOperand operand;
    operand.role = role;
    operand.dtypes = {std::string(name(first.after))};
    operand.device = "cuda";
    finding.operands.push_back(std::move(operand));
  }
  return finding;
}

}  // namespace

std::vector<CastFinding> cast_findings(const Journal& journal) {
  std::map<std::tuple<std::uint32_t, std::optional<Dtype>, Dtype>, std::vector<Cast>> groups;
  for (const JournalCast& record : journal.casts)
    if (const auto cast = understand(journal, record))
      groups[{record.attention, cast->before, cast->after}].push_back(*cast);
  std::vector<CastFinding> findings;
  for (const auto& [key, casts] : groups) {
    CastFinding found{describe(casts), casts.front().record};
    const cupti::KernelName attention = cupti::read_kernel_name(found.first->place.api);
    found.finding.api = attention.api.empty() ? found.first->place.api : std::string(attention.api);
    findings.push_back(std::move(found));
  }
  return findings;
}

}  // namespace dtype_guard::san
