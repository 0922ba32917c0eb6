// Origins: which observed call wrote an operand. A shadow map keeps, for ranges of memory that watched calls
// have written, the dtype, a sample of the bytes and the chain of calls that led there. Addresses are used
// again quickly, so an origin is claimed only while it is proved: the sampled bytes are still the same, and
// they are not all alike (a buffer of zeros proves nothing). An entry that fails is dropped.
//
// A call site with one dtype signature is a Site. Its first call writes one frame with its stack to the
// journal; later ones find it by hash. That is what chains refer to.
//
// Lock-free and bounded: cells are found by hash of address and size class and overwritten when two ranges
// fall into one. A check number over the whole cell tells one that two threads wrote at once. No allocation,
// lock, atomic read-modify-write, system call or clock on the clean path.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sanitizer/contracts/watched_call.h"
#include "sanitizer/protocol/journal.h"

namespace dtype_guard::san {

inline constexpr std::size_t kSamples = 6;

// Sites from the writer back through what it read, 32 bits each; 0 ends a chain.
struct OriginChain {
  std::uint64_t near = 0, far = 0;
  OriginChain after(std::uint32_t site) const { return {site | near << 32, near >> 32 | far << 32}; }
  std::uint32_t site(std::size_t i) const {
    return static_cast<std::uint32_t>((i < 2 ? near : far) >> (i % 2 * 32));
  }
};
static_assert(kChainLength == 4);

// All in words, which are read and written one at a time.
struct OriginEntry {
  std::uintptr_t start = 0;
  std::uint64_t bytes = 0;            // 0: empty
  std::uint64_t dtype_and_check = 0;  // dtype as a descriptor has it; in the high half a check over all else
  OriginChain chain;
  std::uint64_t samples[kSamples / 2] = {};

  std::uint32_t dtype() const { return static_cast<std::uint32_t>(dtype_and_check); }
  std::uint32_t sample(std::size_t i) const {
    return static_cast<std::uint32_t>(samples[i / 2] >> (i % 2 * 32));
  }
};
struct alignas(64) OriginCell {
  OriginEntry entry;
};
static_assert(sizeof(OriginCell) == 64);

struct SiteSlot {
  std::atomic<std::uint64_t> key;
  std::atomic<std::uint32_t> recorded;
};

struct Origins {
  static constexpr std::size_t kCells = 4096;
  static constexpr std::size_t kSites = 4096;
  static constexpr std::size_t kSiteProbes = 16;
  OriginCell cells[kCells];
  SiteSlot sites[kSites];
  std::atomic<std::uint64_t> classes;  // bit n: ranges of 2^(n-1) < bytes <= 2^n are in the map
  std::atomic<std::uint32_t> full;     // no room for more sites: calls of others are not noted
};

struct Origin {
  std::uint32_t dtype = 0;  // that was written, packed
  OriginChain chain = {};
};

}  // namespace dtype_guard::san
