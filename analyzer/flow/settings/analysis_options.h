// What an evaluation is asked for, and how much it may take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "analyzer/flow/settings/precision_setting.h"
#include "rules/contracts/contract.h"

namespace dtype_guard::flow {

class RootMemo;

struct AnalysisOptions {
  std::vector<PrecisionSetting> settings;
  bool settings_named_by_user = false;  // a named setting is evidence by itself
  std::string device = "cuda";
  bool device_named_by_user = false;                   // else a device that the code names wins
  bool kernels_chosen = false;                         // by the code, of a call that has several on a device
  std::vector<std::string> torch_versions = {"2.13"};  // ascending; findings say in which they occur
  bool strict = false;                                 // also report possible findings
  const ContractSet* contracts = nullptr;
  // Files that others in the program are generated from. What runs is the generated code, with what it
  // inherits copied into it: a root in such a file says nothing of code elsewhere.
  std::set<std::string> templates;
  bool refusals = false;  // also list Refusals
  // Kept from one analysis to the next (root_memo.h), with what tells these options from others'.
  RootMemo* memo = nullptr;
  std::string memo_variant;
  // Called before each root is evaluated; may throw to end the analysis.
  std::function<void(std::uint32_t root)> before_root;
  std::size_t step_budget =
      500'000;  // instructions evaluated per root and setting; a root beyond it is given up
  // All roots and settings together; what is left when it is used up is not evaluated.
  std::size_t total_budget = std::numeric_limits<std::size_t>::max();
  // The same, with whatever is evaluated to look at a root, as Work counts it. Each setting has its share of
  // it, and what it leaves out is named.
  std::size_t work_budget = 60'000'000;
};

}  // namespace dtype_guard::flow
