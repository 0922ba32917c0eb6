// The thread's dtype state, which code sets, saves and restores: autocast, and the default dtype.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analyzer/flow/engine/speculation.h"
#include "analyzer/flow/ir/ir.h"
#include "analyzer/flow/state/state.h"

namespace dtype_guard::flow {

class DtypeState {
 public:
  DtypeState(const std::string& device, Effects& effects) : device_(device), effects_(effects) {}

  void set_autocast(const Instruction& instruction, State& state);
  static void set_default_dtype(const Instruction& instruction, State& state);
  Value save_state(const State& state);
  void restore_state(const Instruction& instruction, State& state) const;

 private:
  const std::string& device_;  // that the analysis is for
  Effects& effects_;
  std::vector<std::pair<AutocastState, Dtype>> snapshots_;
};

}  // namespace dtype_guard::flow
