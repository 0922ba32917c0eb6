// Kernel launches in the journal: the first of each kernel with its stack, the counts at the end, and whether
// the source that saw them was on.
#pragma once

#include <cstdint>
#include <string_view>

#include "sanitizer/runtime/process.h"

namespace dtype_guard::san {

void record_launch(Process& process, std::uint32_t index, std::string_view kernel);

// The final count of every kernel that was noted.
void write_launch_counts(Process& process, Scratch& scratch);

struct SourceState {
  std::string_view name;
  bool on;
  std::string_view reason;  // why it is off
  std::uint64_t graph_nodes;
  std::uint64_t graph_launches;
};
void record_source(Process& process, const SourceState& state);
void write_source(Process& process, Scratch& scratch, const SourceState& state);

}  // namespace dtype_guard::san
