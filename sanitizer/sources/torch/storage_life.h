// Storages that are alive, by address, each with where its dtype came from: announced by c10's allocators
// through functions that this library interposes, so an address that is used again starts anew. A storage
// that no allocator announced (made before the watching, mapped from a file, borrowed from numpy) is not in
// here, and no origin is claimed for it.
//
// Such a storage gets an entry at its first use, with the place of that, for a finding to name.
//
// Bounded: buckets of eight by hash; what finds no room is counted and has no origin, and gives way to none
// but first uses. An entry is written by the thread that allocates, or by the operator that fills it, before
// the program can hand it to another.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sanitizer/sources/torch/origin_chain.h"

namespace dtype_guard::san::torch {

struct StorageEntry {
  OriginChain chain;  // of `dtype`; empty until an operator has written there
  // Of a storage without an origin: index + 1 of the site where it was used first, as far as was seen.
  std::uint32_t first_use : 30;
  std::uint32_t is_compiled : 1;     // that site is the compiled region that it was allocated in
  std::uint32_t is_unannounced : 1;  // no allocator told of it, so its end need not be told either

  static constexpr std::uint32_t kUseWithoutSite = (1U << 30) - 1;
  bool is_unused() const { return chain.is_empty() && first_use == 0; }
};

class StorageLife {
 public:
  static constexpr std::size_t kBuckets = 1 << 14, kWays = 8;

  // Maps the table; false without memory.
  bool start();
  bool is_on() const { return on_.load(std::memory_order_relaxed); }
  void switch_on(bool on) { on_.store(on && buckets_ != nullptr, std::memory_order_release); }
  // Forgets all: what lived and died while it was off is not known.
  void clear();

  void born(std::uintptr_t address);
  void died(std::uintptr_t address);
  // The entry of a storage without an origin of which no use was seen; nullptr where one was, or without
  // room.
  StorageEntry* take_unused(std::uintptr_t address);
  // Each operand of each operator is asked for.
  StorageEntry* find(std::uintptr_t address) const {
    // Without origins there is no table, and after they were off it is not true any more.
    if (address == 0 || !on_.load(std::memory_order_acquire)) return nullptr;
    Bucket& ways = bucket(address);
    for (std::size_t i = 0; i < kWays; ++i)
      if (ways.addresses[i].load(std::memory_order_acquire) == address) return &ways.entries[i];
    return nullptr;
  }

  std::uint64_t without_room() const { return without_room_.load(std::memory_order_relaxed); }
  static constexpr std::size_t bytes() { return sizeof(Bucket) * kBuckets; }

 private:
  // The addresses are one cache line.
  struct alignas(64) Bucket {
    std::atomic<std::uintptr_t> addresses[kWays];
    StorageEntry entries[kWays];
  };
  static_assert(sizeof(Bucket) == 256);
  Bucket& bucket(std::uintptr_t address) const {
    return buckets_[(address >> 6) * 0x9e3779b97f4a7c15U >> (64 - 14)];
  }
  static StorageEntry* take_free(Bucket& ways, std::uintptr_t address);

  Bucket* buckets_ = nullptr;
  std::atomic<bool> on_{false};
  std::atomic<std::uint64_t> without_room_{0};
};

inline constinit StorageLife storage_life;

// In a process that was joined while it ran the allocators' calls are bound already: from here on they lead
// here too.
void lead_allocators_here();

}  // namespace dtype_guard::san::torch
