// The switch of another process, as runtime/control_page.h describes it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "sanitizer/attach/process_facts.h"

namespace dtype_guard::san {

struct ControlState {
  bool on = false;
  std::string library_version;
  std::string journal;         // the file; empty: none is known
  std::string problem;         // why findings are not recorded; empty: nothing is known of that
  bool has_descriptor = true;  // else it is reached through the process's memory
};

// Nothing when the process has no switch: the library is not in it. Throws AttachError when the process
// cannot be looked at, or the switch is another version's, or another process's.
std::optional<ControlState> read_control(const ProcessFacts& process);

// Gives the state before. Throws AttachError, also when the process has no switch.
bool switch_control(const ProcessFacts& process, bool on);

}  // namespace dtype_guard::san
