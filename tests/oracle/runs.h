// All runs of one function under one setting where they are few, and else some.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "tests/oracle/interpreter/machine.h"

namespace dtype_guard::oracle {

struct Runs {
  std::vector<Run> runs;
  std::set<Arrival> arrivals;
  bool are_all = false;  // every run is here, and each was run to its end
  bool all_throw = false;
  Passed passed;                                   // by those that are as assumed
  std::map<std::string, std::size_t> assumptions;  // how many runs each left out
  bool makes_own_half = false;                     // some of them do, which is why they were
  std::size_t assumed_away = 0;                    // all of them
  Instructions assumed_away_at;                    // of a call among these it is not known what it refuses
  std::size_t open = 0;                            // of which rules/ do not say how they go on
  // Operators and checks that throw whenever a run comes to them, and branches that always lead to a throw:
  // the setting is not what the program is run in.
  Instructions dead_ends;
};
Runs all_runs(const Module& module, const Function& root, const ContractSet& contracts, const World& world,
              std::size_t most);

// Whether a call refuses what arrives for a role: by its contract, or because another operand that must be
// like this one is not.
bool breaks(const Api& api, const Observation& seen, std::string_view role, const World& world);
// The same, where it is that operand's own fault: what it should be like is taken.
bool is_guilty(const Api& api, const Observation& seen, std::string_view role, const World& world);

}  // namespace dtype_guard::oracle
