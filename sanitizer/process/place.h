// Where a call comes from and with which dtypes, as one number that costs a few nanoseconds: the return
// address, how deep the stack is, the innermost Python frames, the operands' dtypes, and the next return
// addresses.
//
// Nothing is unwound for the latter. The first call of a place is, and that tells which words of the stack
// hold the outer return addresses. At the same instruction, at the same depth, they lie in the same words
// again, so later calls only read them. Where they do not (a frame of another size between), the place is
// told from others by its own instruction alone.
#pragma once

#include <atomic>
#include <cstdint>

#include "sanitizer/capture/python_frames.h"
#include "sanitizer/contracts/own_contracts.h"
#include "sanitizer/contracts/watched_call.h"

namespace dtype_guard::san {

// What is known of a place's stack: up to three distances from the operands' list, in words; 0: none.
struct PlaceSlot {
  std::atomic<std::uint64_t> key;
  std::atomic<std::uint64_t> outer;  // 3 * 16 bits, and kOuterKnown
};
inline constexpr std::uint64_t kOuterKnown = std::uint64_t{1} << 63;
inline constexpr std::uint64_t kNotNone = std::uint64_t{1} << 63;  // 0 is an empty slot
inline constexpr std::size_t kPlaceSlots = 4096;
inline constexpr std::size_t kPlaceProbes = 8;
inline constexpr std::size_t kOuterFrames = 3;

[[gnu::always_inline]] inline std::uint64_t dtype_or_none(const DLTensor* tensor) {
  return tensor != nullptr ? dtype_word(*tensor) + 1ULL : 0;
}

[[gnu::always_inline]] inline std::uint64_t inner_key(const WatchedCall& call, std::size_t count) {
  constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15U, kStep = 0x5851f42d4c957f2eU;
  // The operands' list lies on the stack, and a thread's control block at the end of it.
  std::uint64_t depth = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer()) -
                        reinterpret_cast<std::uintptr_t>(call.operands);
  std::uint64_t key = (call.caller ^ depth << 20) * kMix + static_cast<std::uint64_t>(call.api);
  std::uint64_t factor = 0xd6e8feb86659fd93U;
  // Two dtypes at a time: a multiplication is the slowest of what is done here.
#pragma GCC unroll 8
  for (std::size_t i = 0; i < count; i += 2, factor += kStep) {
    std::uint64_t pair = dtype_or_none(call.operands[i]);
    if (i + 1 < count) pair += dtype_or_none(call.operands[i + 1]) << 32;
    key += pair * factor;
  }
  if (std::uint64_t python = python_position(); python != 0) key += python * kStep;
  return (key ^ key >> 32) | kNotNone;
}

[[gnu::always_inline]] inline std::uint64_t with_outer(std::uint64_t key, std::uint64_t outer,
                                                       const WatchedCall& call) {
  constexpr std::uint64_t kFactors[kOuterFrames] = {0x9e3779b97f4a7c15U, 0xd6e8feb86659fd93U,
                                                    0x5851f42d4c957f2dU};
  const auto* words = reinterpret_cast<const std::uintptr_t*>(call.operands);
  std::uint64_t place = key;
#pragma GCC unroll 3
  for (std::size_t i = 0; i < kOuterFrames; ++i)
    if (std::uint64_t distance = outer >> 16 * i & 0xffffU; distance != 0) [[likely]]
      place += __atomic_load_n(words + distance, __ATOMIC_RELAXED) * kFactors[i];
  return (place ^ place >> 32) | kNotNone;
}

// True and the place's number when its stack is known.
[[gnu::always_inline]] inline bool known_place(const PlaceSlot (&places)[kPlaceSlots],
                                               const WatchedCall& call, std::size_t count,
                                               std::uint64_t& place) {
  std::uint64_t key = inner_key(call, count);
  for (std::size_t i = 0; i < kPlaceProbes; ++i) {
    const PlaceSlot& slot = places[(key + i) % kPlaceSlots];
    std::uint64_t found = slot.key.load(std::memory_order_acquire);
    if (found != key) [[unlikely]] {
      if (found == 0) return false;
      continue;
    }
    std::uint64_t outer = slot.outer.load(std::memory_order_acquire);
    place = with_outer(key, outer, call);
    return (outer & kOuterKnown) != 0;
  }
  return false;
}

// The place's number, learning its stack from this call's, which has just been captured: `words` are the
// places of its `depth` return addresses. 0 when there is no room for more places.
std::uint64_t learn_place(PlaceSlot (&places)[kPlaceSlots], const WatchedCall& call,
                          const std::uintptr_t* words, std::size_t depth);

}  // namespace dtype_guard::san
