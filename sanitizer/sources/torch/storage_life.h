// Storages that are alive, by address, each with where its dtype came from: announced by c10's allocators
// through functions that this library interposes, so an address that is used again starts anew. A storage
// that no allocator announced (made before the watching, mapped from a file, borrowed from numpy) is not in
// here, and no origin is claimed for it.
//
// Bounded: buckets of eight by hash; what finds no room is counted and has no origin. An entry is written by
// the thread that allocates, or by the operator that fills it, before the program can hand it to another.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sanitizer/sources/torch/origin_chain.h"

namespace dtype_guard::san::torch {

struct StorageEntry {
  std::atomic<std::uintptr_t> address;
  OriginChain chain;  // of `dtype`; empty until an operator has written there
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
  StorageEntry* find(std::uintptr_t address) const;

  std::uint64_t without_room() const { return without_room_.load(std::memory_order_relaxed); }
  static constexpr std::size_t bytes() { return sizeof(Bucket) * kBuckets; }

 private:
  struct Bucket {
    StorageEntry ways[kWays];
  };
  Bucket& bucket(std::uintptr_t address) const {
    return buckets_[(address >> 6) * 0x9e3779b97f4a7c15U >> (64 - 14)];
  }

  Bucket* buckets_ = nullptr;
  std::atomic<bool> on_{false};
  std::atomic<std::uint64_t> without_room_{0};
};

inline constinit StorageLife storage_life;

// In a process that was joined while it ran the allocators' calls are bound already: from here on they lead
// here too.
void lead_allocators_here();

}  // namespace dtype_guard::san::torch
