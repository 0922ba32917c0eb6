#include "sanitizer/runtime/origins.h"

#include <cstring>

#include "sanitizer/runtime/own_contracts.h"
#include "sanitizer/runtime/place.h"
#include "sanitizer/runtime/process.h"
#include "sanitizer/runtime/recorder.h"
#include "sanitizer/runtime/system.h"

namespace dtype_guard::san {
namespace {

constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15U;
constexpr int kMaxRank = 8;
constexpr std::uint64_t kSmallest = 64, kLargest = std::uint64_t{1} << 47;  // bytes of a range that is kept

struct Range {
  std::uintptr_t start = 0;
  std::uint64_t bytes = 0;  // 0: not one gapless range
};

std::uintptr_t address_of(const DLTensor& tensor) {
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
Range range_of(const DLTensor& tensor) {
  if (tensor.ndim > kMaxRank || tensor.device.device_type != kDLCPU) return {};
  return range_of(tensor.shape, tensor.strides, tensor);
}

// Of a call that did not run.
Range checked_range(const DLTensor& tensor) {
  std::int64_t sizes[kMaxRank], strides[kMaxRank];
  if (tensor.ndim < 0 || tensor.ndim > kMaxRank || tensor.device.device_type != kDLCPU) return {};
  auto count = static_cast<std::size_t>(tensor.ndim) * sizeof sizes[0];
  if (!read_memory(tensor.shape, sizes, count)) return {};
  if (tensor.strides != nullptr && !read_memory(tensor.strides, strides, count)) return {};
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

unsigned class_of(std::uint64_t bytes) { return 64U - static_cast<unsigned>(__builtin_clzll(bytes - 1)); }

OriginCell& cell_at(Origins& origins, std::uintptr_t address, unsigned size_class) {
  static_assert(Origins::kCells == 1U << 12);
  return origins.cells[((address >> size_class) + size_class * 0xd6e8feb8U) * kMix >> 52];
}

std::uint64_t sample_step(std::uint64_t bytes) {
  return ((bytes - sizeof(std::uint32_t)) / (kSamples - 1)) & ~std::uint64_t{3};
}

[[gnu::always_inline]] inline std::uint64_t check_of(const OriginEntry& entry) {
  constexpr std::uint64_t kStep = 0x5851f42d4c957f2eU;
  std::uint64_t sum = entry.start * kMix + entry.bytes * (kMix + kStep) + entry.dtype() * (kMix + 2 * kStep) +
                      entry.chain.near * (kMix + 3 * kStep) + entry.chain.far * (kMix + 4 * kStep);
  for (std::size_t i = 0; i < kSamples / 2; ++i) sum += entry.samples[i] * (kMix + (5 + i) * kStep);
  return sum & ~std::uint64_t{0xffffffff};
}

void put(std::uint64_t& target, std::uint64_t value) { __atomic_store_n(&target, value, __ATOMIC_RELAXED); }
std::uint64_t get(const std::uint64_t& source) { return __atomic_load_n(&source, __ATOMIC_RELAXED); }

[[gnu::always_inline]] inline void write(OriginCell& cell, const OriginEntry& entry) {
  OriginEntry& to = cell.entry;
  put(to.start, entry.start);
  put(to.bytes, entry.bytes);
  put(to.dtype_and_check, entry.dtype() | check_of(entry));
  put(to.chain.near, entry.chain.near);
  put(to.chain.far, entry.chain.far);
  for (std::size_t i = 0; i < kSamples / 2; ++i) put(to.samples[i], entry.samples[i]);
}

bool covers(const Range& range, std::uintptr_t address) { return address - range.start < range.bytes; }

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
    OriginCell& at = cell_at(origins, address, size_class);
    if (holds(at, address)) return &at;
    OriginCell& before = cell_at(origins, address - (std::uintptr_t{1} << size_class), size_class);
    if (holds(before, address)) return &before;
  }
  return nullptr;
}

bool read(OriginCell& cell, std::uintptr_t address, Entry& entry) {
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

void drop(const Entry& entry) { write(*entry.cell, OriginEntry()); }

enum class Proof : std::uint8_t { kHolds, kWeak, kBroken };

// Compares the samples that lie in `range`. `fetch(address, word)` reads one; false when it cannot.
template <typename Fetch>
Proof prove(const Entry& entry, const Range& range, Fetch fetch) {
  std::size_t compared = 0;
  bool varied = false;
  std::uint32_t first = 0;
  for (std::size_t i = 0; i < kSamples; ++i) {
    std::uintptr_t place = entry.start + sample_step(entry.bytes) * i;
    if (!covers(range, place) || !covers(range, place + 3)) continue;
    std::uint32_t word = 0;
    if (!fetch(place, word) || word != entry.sample(i)) return Proof::kBroken;
    if (compared++ == 0) first = word;
    varied = varied || word != first;
  }
  return compared >= 3 && varied ? Proof::kHolds : Proof::kWeak;
}

bool fetch_good(std::uintptr_t address, std::uint32_t& word) {
  std::memcpy(&word, reinterpret_cast<const void*>(address), sizeof word);
  return true;
}
bool fetch_checked(std::uintptr_t address, std::uint32_t& word) {
  return read_memory(reinterpret_cast<const void*>(address), &word, sizeof word);
}

[[gnu::always_inline]] inline std::uint32_t site_of(Process& process, const WatchedCall& call,
                                                    std::size_t count) {
  std::uint64_t place = 0;
  if (known_place(process.places, call, count, place)) [[likely]] {
    constexpr std::size_t kProbes = 4;
    for (std::size_t i = 0; i < kProbes; ++i) {
      std::size_t index = (place + i) % Origins::kSites;
      const SiteSlot& slot = process.origins.sites[index];
      std::uint64_t key = slot.key.load(std::memory_order_relaxed);
      if (key == 0) break;
      if (key != place) continue;
      if (std::uint32_t recorded = slot.recorded.load(std::memory_order_acquire); recorded != 0)
        return recorded == 1 ? static_cast<std::uint32_t>(index + 1) : 0;
      break;
    }
  }
  return record_site(process, call);
}

std::uint32_t packed_from_word(std::uint32_t word) { return packed(__builtin_bit_cast(DLDataType, word)); }

[[gnu::noinline, gnu::cold]] void check_reinterpretation(Process& process, const WatchedCall& call,
                                                         std::size_t at, const Entry& entry,
                                                         const Range& range) {
  std::uint32_t written = packed_from_word(entry.dtype());
  Proof proof = prove(entry, range, fetch_checked);
  if (proof == Proof::kBroken) return drop(entry);
  if (proof != Proof::kHolds || is_raw_bytes(written) || is_raw_bytes(packed_dtype(*call.operands[at])))
    return;
  record_reinterpretation(process, call, at, {written, entry.chain});
}

// Follows what the call read: the chain of the first operand that has a proved one, after this call's own
// site.
[[gnu::noinline]] void follow_input(Process& process, const WatchedCall& call, std::size_t at,
                                    OriginCell& cell, OriginChain& chain) {
  const DLTensor& tensor = *call.operands[at];
  Entry entry;
  if (!read(cell, address_of(tensor), entry)) return;
  Range range = range_of(tensor);
  if (range.bytes == 0) return;
  if (entry.dtype() != dtype_word(tensor)) [[unlikely]]
    return check_reinterpretation(process, call, at, entry, range);
  if (chain.near >> 32 != 0) return;
  Proof proof = prove(entry, range, fetch_good);
  if (proof == Proof::kBroken) drop(entry);
  if (proof != Proof::kHolds) return;
  chain = entry.chain.after(chain.site(0));
}

[[gnu::always_inline]] inline void look_at_input(Process& process, const WatchedCall& call, std::size_t at,
                                                 OriginChain& chain) {
  if (OriginCell* cell = look_up(process.origins, address_of(*call.operands[at]))) [[unlikely]]
    follow_input(process, call, at, *cell, chain);
}

void note_output(Origins& origins, const DLTensor& tensor, const OriginChain& chain) {
  Range range = range_of(tensor);
  if (range.bytes < kSmallest || range.bytes > kLargest) return;
  OriginEntry entry = {range.start, range.bytes, dtype_word(tensor), chain, {}};
  std::uint64_t step = sample_step(range.bytes);
  for (std::size_t i = 0; i < kSamples; i += 2) {
    std::uint32_t low = 0, high = 0;
    fetch_good(range.start + step * i, low);
    fetch_good(range.start + step * (i + 1), high);
    entry.samples[i / 2] = low | std::uint64_t{high} << 32;
  }
  unsigned size_class = class_of(range.bytes);
  std::uint64_t bit = std::uint64_t{1} << size_class;
  if ((origins.classes.load(std::memory_order_relaxed) & bit) == 0)
    origins.classes.fetch_or(bit, std::memory_order_relaxed);
  write(cell_at(origins, range.start, size_class), entry);
}

}  // namespace

namespace {

// With a contract that is a constant, the loops and their conditions are gone.
[[gnu::always_inline]] inline void note(Process& process, const WatchedCall& call,
                                        const ApiContract& contract) {
  OriginChain chain = {site_of(process, call, contract.operand_count), 0};
  if (process.origins.classes.load(std::memory_order_relaxed) != 0) {
#pragma GCC unroll 12
    for (std::size_t i = 0; i < contract.operand_count; ++i)
      if (contract.operands[i].input && call.operands[i] != nullptr) look_at_input(process, call, i, chain);
  }
  if (chain.near == 0) return;
#pragma GCC unroll 12
  for (std::size_t i = 0; i < contract.operand_count; ++i)
    if (contract.operands[i].output && call.operands[i] != nullptr)
      note_output(process.origins, *call.operands[i], chain);
}

}  // namespace

void note_outputs(Process& process, const WatchedCall& call) { note(process, call, contract_of(call.api)); }

template <ApiId api>
void note_outputs_of(Process& process, const DLTensor* const* operands, std::uintptr_t caller) {
  note(process, {api, operands, caller}, kContracts[static_cast<std::size_t>(api)]);
}
#define DTYPE_SAN_API(name, parameters, arguments, operands) \
  template void note_outputs_of<ApiId::name>(Process&, const DLTensor* const*, std::uintptr_t);
#include "sanitizer/sources/apis.inc"
#undef DTYPE_SAN_API

bool find_origin(Process& process, const DLTensor& tensor, Origin& origin) {
  Entry entry;
  OriginCell* cell = look_up(process.origins, address_of(tensor));
  if (cell == nullptr || !read(*cell, address_of(tensor), entry)) return false;
  Range range = checked_range(tensor);
  if (range.bytes == 0) return false;
  Proof proof = prove(entry, range, fetch_checked);
  if (proof == Proof::kBroken) drop(entry);
  if (proof != Proof::kHolds) return false;
  origin = {packed_from_word(entry.dtype()), entry.chain};
  return true;
}

}  // namespace dtype_guard::san
