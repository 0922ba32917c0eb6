#include "sanitizer/process/place.h"

namespace dtype_guard::san {
namespace {

constexpr std::uintptr_t kFarthest =
    16 * 1024;  // bytes from the list; further frames tell calls apart no better

// The words of the stack that hold the return addresses behind the caller's, in their order.
std::uint64_t find_outer(const WatchedCall& call, const std::uintptr_t* words, std::size_t depth) {
  auto last = reinterpret_cast<std::uintptr_t>(call.operands);
  const std::uintptr_t list = last;
  std::uint64_t outer = 0;
  for (std::size_t i = 1; i < depth && i <= kOuterFrames; ++i) {
    std::uintptr_t word = words[i];
    bool usable = word > last && word - list < kFarthest && (word - list) % sizeof word == 0;
    if (!usable) break;
    outer |= std::uint64_t{(word - list) / sizeof word} << 16 * (i - 1);
    last = word;
  }
  return outer;
}

}  // namespace

std::uint64_t learn_place(PlaceSlot (&places)[kPlaceSlots], const WatchedCall& call,
                          const std::uintptr_t* words, std::size_t depth) {
  std::uint64_t key = inner_key(call, contract_of(call.api).operand_count);
  std::uint64_t outer = find_outer(call, words, depth);
  for (std::size_t i = 0; i < kPlaceProbes; ++i) {
    PlaceSlot& slot = places[(key + i) % kPlaceSlots];
    std::uint64_t seen = 0;
    if (slot.key.compare_exchange_strong(seen, key, std::memory_order_acq_rel)) {
      slot.outer.store(outer | kOuterKnown, std::memory_order_release);
      return with_outer(key, outer, call);
    }
    if (seen != key) continue;
    std::uint64_t known = slot.outer.load(std::memory_order_acquire);
    if (known == 0) return with_outer(key, outer, call);  // another thread learns it right now
    // The same instruction at the same depth with its frames elsewhere: go without them from now on.
    if ((known & ~kOuterKnown) != outer && known != kOuterKnown)
      slot.outer.store(kOuterKnown, std::memory_order_release);
    return with_outer(key, slot.outer.load(std::memory_order_acquire), call);
  }
  return 0;
}

}  // namespace dtype_guard::san
