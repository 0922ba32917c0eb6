#include "sanitizer/runtime/place.h"

#include "sanitizer/runtime/process.h"

namespace dtype_guard::san {
namespace {

// The words of the stack that hold the return addresses behind the caller's, in their order. The kernel's own
// frames lie between the list and the caller's return address.
std::uint64_t find_outer(const WatchedCall& call, Scratch& scratch, std::size_t depth) {
  std::size_t count = read_some(call.operands, scratch.frame, sizeof scratch.frame) / sizeof(std::uintptr_t);
  const auto* words = reinterpret_cast<const std::uintptr_t*>(scratch.frame);
  std::uint64_t outer = 0;
  std::size_t next = 1, found = 0;
  bool past_caller = false;
  for (std::size_t at = 0; at < count && found < kOuterFrames && next < depth; ++at) {
    if (!past_caller) {
      past_caller = words[at] == call.caller;
    } else if (words[at] == scratch.stack[next]) {
      outer |= std::uint64_t{at} << 16 * found++;
      ++next;
    }
  }
  return outer;
}

}  // namespace

std::uint64_t learn_place(Process& process, const WatchedCall& call, Scratch& scratch, std::size_t depth) {
  std::uint64_t key = inner_key(call, contract_of(call.api).operand_count);
  PlaceSlot& slot = process.places[key % kPlaceSlots];
  std::uint64_t outer = find_outer(call, scratch, depth);
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
