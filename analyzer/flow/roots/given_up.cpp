#include "analyzer/flow/roots/given_up.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

namespace dtype_guard::flow {
namespace {
constexpr std::size_t kOfFirst = 4;  // as many shares as a setting's twin has

bool has_autocast(const PrecisionSetting& setting) { return setting.autocast != Dtype::kUndefined; }

void add(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}
}  // namespace

bool GivenUp::is_pointless(std::uint32_t root, const PrecisionSetting& setting) {
  const auto found = roots_.find(root);
  if (found == roots_.end() || !found->second.exceeded[has_autocast(setting)]) return false;
  add(found->second.untried, setting.name);
  return true;
}

void GivenUp::exceeded(std::uint32_t root, const PrecisionSetting& setting, const std::string& problem) {
  Entry& entry = roots_[root];
  entry.exceeded[has_autocast(setting)] = true;
  if (entry.problem.empty()) entry.problem = problem;
  add(entry.settings, setting.name);
}

void GivenUp::left_out(std::uint32_t root, const PrecisionSetting& setting) {
  Entry& entry = roots_[root];
  if (entry.problem.empty()) entry.problem = "all functions together take more than they may";
  add(entry.settings, setting.name);
}

std::map<std::uint32_t, std::string> GivenUp::functions(const FunctionIndex& index) const {
  std::map<std::uint32_t, std::string> out;
  for (const auto& [root, entry] : roots_) {
    std::vector<std::uint32_t> work = {root};
    while (!work.empty()) {
      const std::uint32_t next = work.back();
      work.pop_back();
      if (!out.emplace(next, index.function(root).name).second) continue;
      const std::vector<std::uint32_t>& callees = index.callees(next);
      work.insert(work.end(), callees.begin(), callees.end());
    }
  }
  return out;
}

void GivenUp::list(const Module& module, std::vector<NotLowered>& out) const {
  for (const auto& [root, entry] : roots_) {
    std::string reason = fmt::format("budget: {} under {}", entry.problem, fmt::join(entry.settings, ", "));
    if (!entry.untried.empty()) reason += fmt::format("; not tried under {}", fmt::join(entry.untried, ", "));
    out.push_back({module.functions[root].name, reason, module.functions[root].range});
  }
}

Shares::Shares(const std::vector<PrecisionSetting>& settings, const AnalysisOptions& options)
    : budget_(options.work_budget) {
  for (auto each = settings.begin(); each != settings.end(); ++each) {
    const bool has_twin = std::any_of(settings.begin(), each,
                                      [&](const PrecisionSetting& other) { return are_twins(other, *each); });
    weights_.push_back(has_twin ? 1 : kOfFirst);
    sum_ += weights_.back() * options.torch_versions.size();
  }
}

std::size_t Shares::next(std::size_t setting, std::size_t done) {
  const std::size_t share = (budget_ - std::min(budget_, done)) / sum_ * weights_[setting];
  sum_ -= weights_[setting];
  return share;
}

// What is left to its first bits: a little more or less that was done before changes nothing, so that what an
// earlier run came to holds.
std::size_t share_of_root(std::size_t left, std::size_t behind) {
  constexpr int kBits = 4;
  constexpr std::size_t kEqualParts = 16;
  if (behind == 0) return left;
  const int spare = std::max(0, static_cast<int>(std::bit_width(left)) - kBits);
  const std::size_t rest = left >> spare << spare;
  return rest / std::max<std::size_t>(2, (behind + kEqualParts) / kEqualParts);
}

}  // namespace dtype_guard::flow
