// What came of roots that were looked at together, and of those that never asked what the setting says: that
// is the same in every setting, and is evaluated in the first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/flow/kept_groups.h"
#include "analyzer/flow/pass.h"
#include "analyzer/flow/root_memo.h"

namespace dtype_guard::flow {

using HalvesKnown = std::shared_ptr<const ClassesMadeHalf>;

struct AskedRoot {
  std::uint32_t root = 0;
  const AnalysisOptions* options = nullptr;
  const std::string* only_in = nullptr;  // see FindingCollector
};

struct GroupOutcome {
  std::vector<KeptRoot> roots;
  std::vector<std::size_t> work, allowed;  // in steps, by root
  std::size_t done = 0;                    // work of all, to the last bit; where it is asked for
  SeenByRoots seen;
  std::optional<std::size_t> begun_at;  // in steps of all; in an earlier run it was elsewhere
  bool knew_halves = false;
  HalvesKnown halves;  // that are known behind it, as it went by them
  std::optional<KeptGroup> to_keep;
};

class UnaskedGroups {
 public:
  static std::string key(std::span<const AskedRoot> roots, const std::string& torch_version);
  // As of that setting; what was seen lives as long as this.
  std::optional<GroupOutcome> find(const std::string& key, const std::string& setting) const;
  // One that was evaluated: what find() gave refers to what is known already.
  void keep(const std::string& key, GroupOutcome outcome);

 private:
  std::map<std::string, GroupOutcome> known_;
};

}  // namespace dtype_guard::flow
