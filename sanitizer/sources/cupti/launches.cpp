#include "sanitizer/sources/cupti/launches.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "sanitizer/sources/cupti/parameters.h"

namespace dtype_guard::san::cupti {

Launches::Seen Launches::count(std::string_view kernel, std::uint64_t call) {
  constexpr std::size_t kProbes = 128;
  std::uint64_t hash = XXH3_64bits_withSeed(kernel.data(), kernel.size(), call);
  if (hash == 0) hash = 1;
  for (std::size_t i = 0; i < kProbes; ++i) {
    const std::size_t at = (hash + i) % kSlots;
    LaunchSlot& slot = slots_[at];
    std::uint64_t name = slot.name.load(std::memory_order_acquire);
    if (name == 0 && slot.name.compare_exchange_strong(name, hash, std::memory_order_acq_rel)) {
      slot.parameters.store(find_parameters(kernel), std::memory_order_relaxed);
      name = hash;
    }
    if (name != hash) continue;
    return {static_cast<std::uint32_t>(at), slot.count.fetch_add(1, std::memory_order_relaxed) + 1};
  }
  uncounted_.fetch_add(1, std::memory_order_relaxed);
  return {};
}

}  // namespace dtype_guard::san::cupti
