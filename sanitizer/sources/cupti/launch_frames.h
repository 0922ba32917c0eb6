// Kernel launches in the journal: the first of each kernel (and of each kernel in each watched call) with its
// stack, casts that feed an attention kernel, and the counts at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sanitizer/contracts/watched_call.h"
#include "sanitizer/process/process.h"
#include "sanitizer/sources/cupti/cast_links.h"
#include "sanitizer/sources/cupti/state.h"

namespace dtype_guard::san::cupti {

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
void record_cast(Process& process, std::uint32_t index, std::string_view attention, const CastLink& link);

// The final count of every kernel and cast that was noted.
void write_launch_counts(Process& process, Scratch& scratch, State& known);

}  // namespace dtype_guard::san::cupti
