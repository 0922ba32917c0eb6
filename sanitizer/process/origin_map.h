// The shadow map's own arithmetic: which range a tensor covers, which cell that falls into, how a cell is
// read, written and proved. In a header since the clean path is unrolled through it.
#pragma once

#include <cstring>

#include "sanitizer/platform/system.h"
#include "sanitizer/process/origins.h"

namespace dtype_guard::san::origin_map {

inline constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15U;
inline constexpr int kMaxRank = 8;
inline constexpr std::uint64_t kSmallest = 64,
                               kLargest = std::uint64_t{1} << 47;  // bytes of a range that is kept

struct Range {
  std::uintptr_t start = 0;
  std::uint64_t bytes = 0;  // 0: not one gapless range
};

inline std::uintptr_t address_of(const DLTensor& tensor) {
  return reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.byte_offset;
}

// Elements side by side in whatever order: their number times their size is the distance they span.
[[gnu::always_inline]] inline Range range_of(const std::int64_t* sizes, const std::int64_t* strides,
                                             const DLTensor& tensor) {
  std::int64_t elements = 1, last = 0;
  for (int i = 0; i < tensor.ndim; ++i) elements *= sizes[i];
  if (strides != nullptr) {
    for (int i = 0; i < tensor.ndim; ++i) {
      if (sizes[i] <= 1) continue;
      last += (sizes[i] - 1) * strides[i];
      if (strides[i] < 0) return {};
    }
    if (last + 1 != elements) return {};
  }
  std::uint64_t bits = std::uint64_t{tensor.dtype.bits} * tensor.dtype.lanes;
  return {address_of(tensor), elements > 0 ? static_cast<std::uint64_t>(elements) * bits / 8 : 0};
}

// Of a call that has run, so the descriptor is good.
[[gnu::always_inline]] inline Range range_of(const DLTensor& tensor) {
  if (tensor.ndim > kMaxRank || tensor.device.device_type != kDLCPU) return {};
  return range_of(tensor.shape, tensor.strides, tensor);
}

// Of a call that did not run.
inline Range checked_range(const DLTensor& tensor) {
  std::int64_t sizes[2 * kMaxRank];
  if (tensor.ndim < 0 || tensor.ndim > kMaxRank || tensor.device.device_type != kDLCPU) return {};
  const std::int64_t* strides = sizes + tensor.ndim;
  auto count = static_cast<std::size_t>(tensor.ndim) * sizeof sizes[0];
  MemoryPiece pieces[2] = {{tensor.shape, count}, {tensor.strides, count}};
  std::size_t lists = tensor.strides != nullptr ? 2 : 1;
  if (count != 0 && read_pieces(pieces, lists, sizes) != lists * count) return {};
  std::uint64_t product = 1;
  for (int i = 0; i < tensor.ndim; ++i) {
    bool absurd =
        sizes[i] < 0 || (sizes[i] != 0 && product > kLargest / static_cast<std::uint64_t>(sizes[i]));
    if (absurd ||
        (tensor.strides != nullptr && sizes[i] > 1 && strides[i] > static_cast<std::int64_t>(kLargest)))
      return {};
    product *= static_cast<std::uint64_t>(sizes[i]);
  }
  return range_of(sizes, tensor.strides != nullptr ? strides : nullptr, tensor);
}

inline unsigned class_of(std::uint64_t bytes) {
  return 64U - static_cast<unsigned>(__builtin_clzll(bytes - 1));
}

// Of the stretch of 2^size_class bytes that the address lies in. The one before has a hash smaller by kMix.
[[gnu::always_inline]] inline std::uint64_t cell_hash(std::uintptr_t address, unsigned size_class) {
  return ((address >> size_class) + size_class * 0xd6e8feb8U) * kMix;
}
[[gnu::always_inline]] inline OriginCell& cell_at(Origins& origins, std::uint64_t hash) {
  static_assert(Origins::kCells == 1U << 12);
  return origins.cells[hash >> 52];
}

inline std::uint64_t sample_step(std::uint64_t bytes) {
  return ((bytes - sizeof(std::uint32_t)) / (kSamples - 1)) & ~std::uint64_t{3};
}

[[gnu::always_inline]] inline std::uint64_t check_of(const OriginEntry& entry) {
  // A sample is added to a number that has nothing to do with it: half the multiplications.
  constexpr std::uint64_t kStep = 0x5851f42d4c957f2eU;
  static_assert(kSamples == 6);
  std::uint64_t sum = (entry.start + entry.samples[0]) * kMix +
                      (entry.bytes + entry.samples[1]) * (kMix + kStep) +
                      (entry.chain.near + entry.samples[2]) * (kMix + 2 * kStep) +
                      entry.chain.far * (kMix + 3 * kStep) + entry.dtype() * (kMix + 4 * kStep);
  return sum & ~std::uint64_t{0xffffffff};
}

inline void put(std::uint64_t& target, std::uint64_t value) {
  __atomic_store_n(&target, value, __ATOMIC_RELAXED);
}
inline std::uint64_t get(const std::uint64_t& source) { return __atomic_load_n(&source, __ATOMIC_RELAXED); }

[[gnu::always_inline]] inline void write(OriginCell& cell, const OriginEntry& entry) {
  OriginEntry& to = cell.entry;
  put(to.start, entry.start);
  put(to.bytes, entry.bytes);
  put(to.dtype_and_check, entry.dtype() | check_of(entry));
  put(to.chain.near, entry.chain.near);
  put(to.chain.far, entry.chain.far);
  for (std::size_t i = 0; i < kSamples / 2; ++i) put(to.samples[i], entry.samples[i]);
}

inline bool covers(const Range& range, std::uintptr_t address) { return address - range.start < range.bytes; }

struct Entry : OriginEntry {
  Range range;
  OriginCell* cell = nullptr;
};

[[gnu::always_inline]] inline bool holds(const OriginCell& cell, std::uintptr_t address) {
  return address - get(cell.entry.start) < get(cell.entry.bytes);
}

// A range lies in the cell of its first byte: that of an address within it, or the one before.
[[gnu::always_inline]] inline OriginCell* look_up(Origins& origins, std::uintptr_t address) {
  for (std::uint64_t classes = origins.classes.load(std::memory_order_relaxed); classes != 0;
       classes &= classes - 1) {
    auto size_class = static_cast<unsigned>(__builtin_ctzll(classes));
    std::uint64_t hash = cell_hash(address, size_class);
    OriginCell& at = cell_at(origins, hash);
    if (holds(at, address)) return &at;
    OriginCell& before = cell_at(origins, hash - kMix);
    if (holds(before, address)) return &before;
  }
  return nullptr;
}

inline bool read(OriginCell& cell, std::uintptr_t address, Entry& entry) {
  const OriginEntry& from = cell.entry;
  entry.start = get(from.start);
  entry.bytes = get(from.bytes);
  entry.dtype_and_check = get(from.dtype_and_check);
  entry.chain = {get(from.chain.near), get(from.chain.far)};
  for (std::size_t i = 0; i < kSamples / 2; ++i) entry.samples[i] = get(from.samples[i]);
  entry.range = {entry.start, entry.bytes};
  entry.cell = &cell;
  return covers(entry.range, address) &&
         (entry.dtype_and_check & ~std::uint64_t{0xffffffff}) == check_of(entry);
}

inline void drop(const Entry& entry) { write(*entry.cell, OriginEntry()); }

enum class Proof : std::uint8_t { kHolds, kWeak, kBroken };

// Compares the samples that lie in `range`. `fetch(addresses, count, words)` reads them; false when it
// cannot.
template <typename Fetch>
[[gnu::always_inline]] inline Proof prove(const Entry& entry, const Range& range, Fetch fetch) {
  std::uintptr_t places[kSamples];
  std::uint32_t wanted[kSamples], found[kSamples];
  std::size_t count = 0;
  for (std::size_t i = 0; i < kSamples; ++i) {
    std::uintptr_t place = entry.start + sample_step(entry.bytes) * i;
    if (!covers(range, place) || !covers(range, place + 3)) continue;
    places[count] = place;
    wanted[count++] = entry.sample(i);
  }
  if (!fetch(places, count, found)) return Proof::kBroken;
  bool varied = false;
  for (std::size_t i = 0; i < count; ++i) {
    if (found[i] != wanted[i]) return Proof::kBroken;
    varied = varied || found[i] != found[0];
  }
  return count >= 3 && varied ? Proof::kHolds : Proof::kWeak;
}

inline std::uint32_t word_at(std::uintptr_t address) {
  std::uint32_t word = 0;
  std::memcpy(&word, reinterpret_cast<const void*>(address), sizeof word);
  return word;
}
inline bool fetch_good(const std::uintptr_t* places, std::size_t count, std::uint32_t* words) {
  for (std::size_t i = 0; i < count; ++i) words[i] = word_at(places[i]);
  return true;
}
inline bool fetch_checked(const std::uintptr_t* places, std::size_t count, std::uint32_t* words) {
  MemoryPiece pieces[kSamples];
  for (std::size_t i = 0; i < count; ++i)
    pieces[i] = {reinterpret_cast<const void*>(places[i]), sizeof(std::uint32_t)};
  return count == 0 || read_pieces(pieces, count, words) == count * sizeof(std::uint32_t);
}

inline std::uint32_t packed_from_word(std::uint32_t word) {
  return packed(__builtin_bit_cast(DLDataType, word));
}

}  // namespace dtype_guard::san::origin_map

namespace dtype_guard::san {

// The proved origin of an operand of a call that did not run, whose memory may be bad. False without one.
bool find_origin(Origins& origins, const DLTensor& tensor, Origin& origin);

}  // namespace dtype_guard::san
