// One call as a frame of the journal: its operands, its stack, and where operands come from.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/contracts/watched_call.h"
#include "sanitizer/process/origins.h"
#include "sanitizer/process/process.h"

namespace dtype_guard::san {

// Lies in the scratch that it was captured into.
struct CapturedStack {
  const Scratch* scratch;
  std::size_t depth;
  std::size_t python_depth;
  std::uint64_t hash(std::uint64_t seed) const;
};

CapturedStack capture_call(Scratch& scratch, const WatchedCall& call);
// Of whatever called this library.
CapturedStack capture_here(Scratch& scratch);

// What a finding says beyond operands and stack.
struct FindingDetail {
  struct OperandOrigin {
    std::uint32_t operand;
    Origin origin;
  };
  OperandOrigin origins[kMaxOperands];
  std::size_t origin_count = 0;
  std::uint32_t reinterpreted =
      0;                      // operand + 1 whose bits were written as another dtype; 0: a broken contract
  std::uint32_t forward = 0;  // in a backward call the site of its forward, or kForwardUnknown
  std::uint32_t without_origin = 0;  // bit i: origins are noted, and that of operand i is not known
  std::uint32_t first_uses[kMaxOperands] = {};  // of these: the first use's site, kNoUseSeen or 0
};

void find_origins(Process& process, const WatchedCall& call, FindingDetail& detail);

// kFinding, or kSite without detail. The stack's modules are written before it.
bool write_call(Process& process, Scratch& scratch, FrameType type, std::uint32_t index,
                const WatchedCall& call, const CapturedStack& stack, const FindingDetail* detail);

// kLaunch and kCast: a kernel's name in the API's place, the operands of the watched call that it was
// launched in, if any, and behind the stack what `tail` adds.
bool write_launch(Process& process, Scratch& scratch, FrameType type, std::uint32_t index,
                  std::string_view kernel, const WatchedCall& call, const CapturedStack& stack,
                  void (*tail)(FrameBuilder& frame, const void* context), const void* context);

}  // namespace dtype_guard::san
