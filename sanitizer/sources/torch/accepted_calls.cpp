#include "sanitizer/sources/torch/accepted_calls.h"

#include <atomic>
#include <cstddef>

#include "sanitizer/capture/python_frames.h"
#include "sanitizer/contracts/own_contracts.h"
#include "sanitizer/contracts/watched_call.h"
#include "sanitizer/platform/wiped_in_child.h"
#include "sanitizer/runtime/recorder.h"

namespace dtype_guard::san::torch {
namespace {

// What is known of this process; a child writes its own.
struct Seen {
  static constexpr std::size_t kPlaces = 4096, kProbes = 16;
  std::atomic<std::uint64_t> keys[kPlaces];
  std::atomic<std::uint32_t> is_full;
};
constinit WipedInChild<Seen> seen_places;

std::uint64_t key_of(ApiId api, const CallOperands& operands, std::uintptr_t caller) {
  constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15U;
  std::uint64_t key = (python_position() ^ caller) * kMix + static_cast<std::uint64_t>(api);
  for (std::size_t i = 0; i < contract_of(api).operand_count; ++i) {
    const DLTensor* tensor = operands.list()[i];
    key = (key ^ (tensor != nullptr ? packed_dtype(*tensor) + 1ULL : 0)) * kMix;
    key ^= key >> 32;
  }
  return key | 1;
}

// Whether the place is new; where there is no room for it, that is said once.
bool is_new(Process& process, Seen& seen, std::uint64_t key) {
  for (std::size_t i = 0; i < Seen::kProbes; ++i) {
    std::atomic<std::uint64_t>& slot = seen.keys[(key + i) % Seen::kPlaces];
    std::uint64_t known = slot.load(std::memory_order_relaxed);
    if (known == key) return false;
    if (known == 0 && slot.compare_exchange_strong(known, key, std::memory_order_relaxed)) return true;
    if (known == key) return false;
  }
  if (seen.is_full.exchange(1, std::memory_order_relaxed) == 0)
    record_process(process, "torch: accepted calls come from more places than are told apart", false);
  return false;
}

}  // namespace

void note_accepted(Process& process, ApiId api, const CallOperands& operands, std::uintptr_t caller) {
  Seen* seen = seen_places.get();
  if (seen != nullptr && is_new(process, *seen, key_of(api, operands, caller)))
    (void)record_site(process, {api, operands.list(), caller});
}

}  // namespace dtype_guard::san::torch
