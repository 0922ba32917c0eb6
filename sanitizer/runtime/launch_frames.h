// Kernel launches in the journal: the first of each kernel (and of each kernel in each watched call) with its
// stack, casts that feed an attention kernel, the counts at the end, and whether the source that saw them was
// on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sanitizer/runtime/process.h"
#include "sanitizer/runtime/watched_call.h"
#include "sanitizer/sources/cupti/cast_links.h"

namespace dtype_guard::san {

// The first launch of a kernel: in which watched call, and which parameters hold addresses of its operands.
struct LaunchRecord {
  static constexpr std::size_t kMostMatches = 32;
  struct Match {
    std::uint32_t operand, parameter, offset;
  };
  std::uint32_t index;
  std::string_view kernel;
  WatchedCall call;  // operands: null outside of watched calls
  bool has_arguments = false;
  std::size_t match_count = 0;
  Match matches[kMostMatches] = {};
};
void record_launch(Process& process, const LaunchRecord& launch);

// The first time that this cast feeds this operand of this attention kernel.
void record_cast(Process& process, std::uint32_t index, std::string_view attention,
                 const cupti::CastLink& link);

// The final count of every kernel and cast that was noted.
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
