#include "sanitizer/sources/torch/accepted_calls.h"

#include <atomic>
#include <cstddef>

#include "sanitizer/capture/python_frames.h"
#include "sanitizer/contracts/own_contracts.h"
#include "sanitizer/contracts/watched_call.h"
#include "sanitizer/platform/wiped_in_child.h"
#include "sanitizer/runtime/recorder.h"
#include "sanitizer/sources/torch/library.h"

namespace dtype_guard::san::torch {
namespace {

// What is known of this process; a child writes its own.
struct Seen {
  static constexpr std::size_t kPlaces = 4096, kProbes = 16;
  std::atomic<std::uint64_t> keys[kPlaces];
  std::atomic<std::uint32_t> is_full;
};
constinit WipedInChild<Seen> seen_places;

std::uint64_t key_of(ApiId api, const CallOperands& operands, std::uint64_t place) {
  constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15U;
  std::uint64_t key = place * kMix + static_cast<std::uint64_t>(api);
  for (std::size_t i = 0; i < contract_of(api).operand_count; ++i) {
    const DLTensor* tensor = operands.list()[i];
    key = (key ^ (tensor != nullptr ? packed_dtype(*tensor) + 1ULL : 0)) * kMix;
    key ^= key >> 32;
  }
  return key | 1;
}

// Of what a library takes, from wherever it is called: which of its versions it is does not change, nor that
// it computes on another device or with autocast.
std::uint64_t key_of_taken(ApiId api, const CallOperands& operands) {
  const std::int8_t device = operands.device_type();
  return key_of(api, operands,
                std::uint64_t{2} * static_cast<std::uint8_t>(device) + libtorch.may_autocast(device));
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
  if (seen != nullptr && is_new(process, *seen, key_of(api, operands, python_position() ^ caller)))
    (void)record_site(process, {api, operands.list(), caller});
}

void note_taken(Process& process, ApiId api, const CallOperands& operands) {
  if (Seen* seen = seen_places.get()) (void)is_new(process, *seen, key_of_taken(api, operands));
}

bool were_taken(ApiId api, const CallOperands& operands) {
  Seen* seen = seen_places.get();
  if (seen == nullptr) return false;
  const std::uint64_t key = key_of_taken(api, operands);
  for (std::size_t i = 0; i < Seen::kProbes; ++i) {
    const std::uint64_t known = seen->keys[(key + i) % Seen::kPlaces].load(std::memory_order_relaxed);
    if (known == key || known == 0) return known == key;
  }
  return false;
}

}  // namespace dtype_guard::san::torch
