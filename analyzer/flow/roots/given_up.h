// Roots that were given up, or for which nothing was left of the work that all may take. What explodes under
// autocast explodes in each setting with autocast, and a half model in each of those: either is paid for
// once.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/flow/program/function_index.h"
#include "analyzer/flow/settings/analysis_options.h"

namespace dtype_guard::flow {

class GivenUp {
 public:
  bool is_pointless(std::uint32_t root, const PrecisionSetting& setting);
  void exceeded(std::uint32_t root, const PrecisionSetting& setting, const std::string& problem);
  // Others had their turn before.
  void left_out(std::uint32_t root, const PrecisionSetting& setting);
  // Functions that these roots come to, with the first such root's name.
  std::map<std::uint32_t, std::string> functions(const FunctionIndex& index) const;
  void list(const Module& module, std::vector<NotLowered>& out) const;

 private:
  struct Entry {
    std::array<bool, 2> exceeded = {};
    std::string problem;
    std::vector<std::string> settings, untried;
  };
  std::map<std::uint32_t, Entry> roots_;
};

// Each setting's share of the work that is left; one that differs from another before it in the half type
// alone is mostly settled by that.
class Shares {
 public:
  Shares(const std::vector<PrecisionSetting>& settings, const AnalysisOptions& options);
  // For one version of PyTorch, when `done` is used up.
  std::size_t next(std::size_t setting, std::size_t done);

 private:
  std::size_t budget_, sum_ = 0;
  std::vector<std::size_t> weights_;  // by setting
};

// What one root may take where so much is left and so many roots come after it: at most half, and at most 16
// times its equal part, so that a few that explode leave enough for the many that need little. The last one
// may take all.
std::size_t share_of_root(std::size_t left, std::size_t behind);

}  // namespace dtype_guard::flow
