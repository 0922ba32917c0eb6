// Where a call comes from and with which dtypes, as one number that costs a few nanoseconds: the return
// address, how deep the stack is, the innermost Python frames, the operands' dtypes. Equal numbers are taken
// for the same place; two ways that lead to one call instruction at the same depth are told apart by their
// full stacks alone.
#pragma once

#include <cstdint>

#include "sanitizer/capture/python_frames.h"
#include "sanitizer/runtime/own_contracts.h"
#include "sanitizer/runtime/watched_call.h"

namespace dtype_guard::san {

inline std::uint64_t place_key(const WatchedCall& call) {
  constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15U, kStep = 0x5851f42d4c957f2eU;
  std::size_t count = contract_of(call.api).operand_count;
  // The operands' list lies on the stack, and a thread's control block at the end of it.
  std::uint64_t depth = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer()) -
                        reinterpret_cast<std::uintptr_t>(call.operands);
  std::uint64_t key = (call.caller ^ depth << 20) * kMix + static_cast<std::uint64_t>(call.api);
  std::uint64_t factor = 0xd6e8feb86659fd93U;
  for (std::size_t i = 0; i < count; ++i, factor += kStep)
    if (call.operands[i] != nullptr) key += (dtype_word(*call.operands[i]) + 1ULL) * factor;
  key += python_position() * kStep;
  key ^= key >> 32;
  return key != 0 ? key : 1;
}

}  // namespace dtype_guard::san
