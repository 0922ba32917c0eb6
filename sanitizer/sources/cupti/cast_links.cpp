#include "sanitizer/sources/cupti/cast_links.h"

namespace dtype_guard::san::cupti {

namespace {

std::uint64_t key_of(const CastLink& link) {
  constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15U;
  const std::uint64_t parts[] = {link.cast, link.attention, link.role, link.arguments.elements,
                                 std::uint64_t{link.arguments.x_type} << 32 | link.arguments.out_type};
  std::uint64_t key = 1;
  for (const std::uint64_t part : parts) {
    key = (key ^ part) * kMix;
    key ^= key >> 29;
  }
  return key != 0 ? key : 1;
}

}  // namespace

CastLinks::Seen CastLinks::count(const CastLink& link) {
  constexpr std::size_t kProbes = 32;
  const std::uint64_t key = key_of(link);
  for (std::size_t i = 0; i < kProbes; ++i) {
    const auto at = static_cast<std::uint32_t>((key + i) % kSlots);
    CastLinkSlot& slot = slots_[at];
    std::uint64_t seen = 0;
    if (!slot.key.compare_exchange_strong(seen, key, std::memory_order_acq_rel) && seen != key) continue;
    return {at, slot.count.fetch_add(1, std::memory_order_relaxed) + 1};
  }
  return {};
}

void CastLinks::add_time(std::uint32_t index, std::uint64_t ns) {
  slots_[index].ns.fetch_add(ns, std::memory_order_relaxed);
  slots_[index].timed.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace dtype_guard::san::cupti
