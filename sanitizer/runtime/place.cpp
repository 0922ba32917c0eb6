#include "sanitizer/runtime/place.h"

#include "sanitizer/runtime/call_frames.h"
#include "sanitizer/runtime/process.h"

namespace dtype_guard::san {
namespace {

// The words of the stack that hold the return addresses behind the caller's, in their order. The kernel's own
// frames lie between the list and the caller's return address.
std::uint64_t find_outer(const WatchedCall& call, const CapturedStack& stack) {
  constexpr std::size_t kSearched = 4096;  // words: 32 KiB
  std::uintptr_t words[64];
  std::uint64_t outer = 0;
  const std::uintptr_t* frames = stack.scratch->stack;
  std::size_t next = 1, found = 0;
  bool past_caller = false;
  for (std::size_t at = 0; at < kSearched && found < kOuterFrames && next < stack.depth; ++at) {
    if (at % 64 == 0 &&
        !read_memory(reinterpret_cast<const std::uintptr_t*>(call.operands) + at, words, sizeof words))
      break;
    std::uintptr_t word = words[at % 64];
    if (!past_caller) {
      past_caller = word == call.caller;
    } else if (word == frames[next]) {
      outer |= std::uint64_t{at} << 16 * found++;
      ++next;
    }
  }
  return outer;
}

}  // namespace

bool known_place(const Process& process, const WatchedCall& call, std::uint64_t& place) {
  std::uint64_t key = inner_key(call);
  const PlaceSlot& slot = process.places[key % kPlaceSlots];
  if (slot.key.load(std::memory_order_acquire) != key) [[unlikely]]
    return false;
  std::uint64_t outer = slot.outer.load(std::memory_order_acquire);
  place = with_outer(key, outer, call);
  return (outer & kOuterKnown) != 0;
}

std::uint64_t learn_place(Process& process, const WatchedCall& call, const CapturedStack& stack) {
  std::uint64_t key = inner_key(call);
  PlaceSlot& slot = process.places[key % kPlaceSlots];
  std::uint64_t outer = find_outer(call, stack);
  if (slot.key.load(std::memory_order_acquire) == key) {
    std::uint64_t known = slot.outer.load(std::memory_order_acquire);
    // The same instruction at the same depth with its frames elsewhere: go without them from now on.
    if ((known & ~kOuterKnown) != outer && known != kOuterKnown)
      slot.outer.store(kOuterKnown, std::memory_order_release);
    return with_outer(key, slot.outer.load(std::memory_order_acquire), call);
  }
  slot.outer.store(0, std::memory_order_release);
  slot.key.store(key, std::memory_order_release);
  slot.outer.store(outer | kOuterKnown, std::memory_order_release);
  return with_outer(key, outer, call);
}

}  // namespace dtype_guard::san
