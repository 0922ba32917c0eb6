// Where a call comes from and with which dtypes, as one number that costs a few nanoseconds: the return
// address, how deep the stack is, the innermost Python frames, the operands' dtypes, and the next return
// addresses.
//
// Nothing is unwound for the latter. The first call of a place is, and then its stack is searched for the
// words that hold the outer return addresses. At the same instruction, at the same depth, they lie in the
// same words again, so later calls only read them. Where they do not (a frame of another size between), the
// place is told from others by its own instruction alone.
#pragma once

#include <atomic>
#include <cstdint>

#include "sanitizer/capture/python_frames.h"
#include "sanitizer/runtime/own_contracts.h"
#include "sanitizer/runtime/watched_call.h"

namespace dtype_guard::san {

struct Process;
struct Scratch;

// What is known of a place's stack: up to three distances from the operands' list, in words; 0: none.
struct PlaceSlot {
  std::atomic<std::uint64_t> key;
  std::atomic<std::uint64_t> outer;  // 3 * 16 bits, and kOuterKnown
};
inline constexpr std::uint64_t kOuterKnown = std::uint64_t{1} << 63;
inline constexpr std::size_t kPlaceSlots = 4096;
inline constexpr std::size_t kOuterFrames = 3;

[[gnu::always_inline]] inline std::uint64_t inner_key(const WatchedCall& call, std::size_t count) {
  constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15U, kStep = 0x5851f42d4c957f2eU;
  // The operands' list lies on the stack, and a thread's control block at the end of it.
  std::uint64_t depth = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer()) -
                        reinterpret_cast<std::uintptr_t>(call.operands);
  std::uint64_t key = (call.caller ^ depth << 20) * kMix + static_cast<std::uint64_t>(call.api);
  std::uint64_t factor = 0xd6e8feb86659fd93U;
#pragma GCC unroll 12
  for (std::size_t i = 0; i < count; ++i, factor += kStep)
    if (call.operands[i] != nullptr) key += (dtype_word(*call.operands[i]) + 1ULL) * factor;
  key += python_position() * kStep;
  key ^= key >> 32;
  return key != 0 ? key : 1;
}

[[gnu::always_inline]] inline std::uint64_t with_outer(std::uint64_t key, std::uint64_t outer,
                                                       const WatchedCall& call) {
  constexpr std::uint64_t kFactors[kOuterFrames] = {0x9e3779b97f4a7c15U, 0xd6e8feb86659fd93U,
                                                    0x5851f42d4c957f2dU};
  const auto* words = reinterpret_cast<const std::uintptr_t*>(call.operands);
  std::uint64_t place = key;
  for (std::size_t i = 0; i < kOuterFrames; ++i, outer >>= 16)
    if (std::uint64_t distance = outer & 0xffffU; distance != 0)
      place += __atomic_load_n(words + distance, __ATOMIC_RELAXED) * kFactors[i];
  place ^= place >> 32;
  return place != 0 ? place : 1;
}

// True and the place's number when its stack is known.
[[gnu::always_inline]] inline bool known_place(const PlaceSlot (&places)[kPlaceSlots],
                                               const WatchedCall& call, std::size_t count,
                                               std::uint64_t& place) {
  std::uint64_t key = inner_key(call, count);
  const PlaceSlot& slot = places[key % kPlaceSlots];
  if (slot.key.load(std::memory_order_acquire) != key) [[unlikely]]
    return false;
  std::uint64_t outer = slot.outer.load(std::memory_order_acquire);
  place = with_outer(key, outer, call);
  return (outer & kOuterKnown) != 0;
}

// The place's number, learning its stack from this call's, which has just been captured into `scratch`; its
// frame buffer is used up.
std::uint64_t learn_place(Process& process, const WatchedCall& call, Scratch& scratch, std::size_t depth);

}  // namespace dtype_guard::san
