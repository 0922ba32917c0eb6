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

// Elements side by side in whatever order: their number times their size is the distance they span.
Range range_of(const std::int64_t* sizes, const std::int64_t* strides, const DLTensor& tensor) {
  std::int64_t elements = 1, last = 0;
  for (int i = 0; i < tensor.ndim; ++i) {
    elements *= sizes[i];
    if (strides != nullptr && sizes[i] > 1) last += (sizes[i] - 1) * strides[i];
    if (strides != nullptr && sizes[i] > 1 && strides[i] < 0) return {};
  }
  if (strides != nullptr && last + 1 != elements) return {};
  std::uint64_t bits = std::uint64_t{tensor.dtype.bits} * tensor.dtype.lanes;
  return {reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.byte_offset,
          elements > 0 ? static_cast<std::uint64_t>(elements) * bits / 8 : 0};
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
  std::uint64_t key = (address >> size_class) * kMix + size_class * 0xd6e8feb86659fd93U;
  static_assert(Origins::kCells == 1U << 12);
  return origins.cells[(key ^ key >> 29) * kMix >> 52];
}

std::uintptr_t sample_place(std::uintptr_t start, std::uint64_t bytes, std::size_t i) {
  return start + ((bytes - sizeof(std::uint32_t)) / (kSamples - 1) * i & ~std::uint64_t{3});
}

void write(OriginCell& cell, std::uint32_t dtype, const Range& range, const OriginChain& chain,
           const std::uint32_t* samples) {
  std::uint32_t version = cell.version.load(std::memory_order_relaxed);
  if ((version & 1U) != 0 ||
      !cell.version.compare_exchange_strong(version, version + 1, std::memory_order_acquire))
    return;  // somebody else writes it: one of the two is lost, which is allowed
  std::atomic_thread_fence(std::memory_order_release);
  __atomic_store_n(&cell.dtype, dtype, __ATOMIC_RELAXED);
  __atomic_store_n(&cell.start, range.start, __ATOMIC_RELAXED);
  __atomic_store_n(&cell.bytes, range.bytes, __ATOMIC_RELAXED);
  for (std::size_t i = 0; i < kChainLength; ++i)
    __atomic_store_n(&cell.chain.sites[i], chain.sites[i], __ATOMIC_RELAXED);
  for (std::size_t i = 0; i < kSamples; ++i) __atomic_store_n(&cell.samples[i], samples[i], __ATOMIC_RELAXED);
  cell.version.store(version + 2, std::memory_order_release);
}

struct Entry {
  std::uint32_t dtype;
  Range range;
  OriginChain chain;
  std::uint32_t samples[kSamples];
  OriginCell* cell;
};

bool covers(const Range& range, std::uintptr_t address) { return address - range.start < range.bytes; }

bool read(OriginCell& cell, std::uintptr_t address, Entry& entry) {
  std::uint32_t version = cell.version.load(std::memory_order_acquire);
  if ((version & 1U) != 0) return false;
  entry.range = {__atomic_load_n(&cell.start, __ATOMIC_RELAXED),
                 __atomic_load_n(&cell.bytes, __ATOMIC_RELAXED)};
  if (!covers(entry.range, address)) return false;
  entry.dtype = __atomic_load_n(&cell.dtype, __ATOMIC_RELAXED);
  for (std::size_t i = 0; i < kChainLength; ++i)
    entry.chain.sites[i] = __atomic_load_n(&cell.chain.sites[i], __ATOMIC_RELAXED);
  for (std::size_t i = 0; i < kSamples; ++i)
    entry.samples[i] = __atomic_load_n(&cell.samples[i], __ATOMIC_RELAXED);
  entry.cell = &cell;
  std::atomic_thread_fence(std::memory_order_acquire);
  return cell.version.load(std::memory_order_relaxed) == version;
}

bool look_up(Origins& origins, std::uintptr_t address, Entry& entry) {
  for (std::uint64_t classes = origins.classes.load(std::memory_order_relaxed); classes != 0;
       classes &= classes - 1) {
    auto size_class = static_cast<unsigned>(__builtin_ctzll(classes));
    if (read(cell_at(origins, address, size_class), address, entry)) return true;
  }
  return false;
}

void drop(const Entry& entry) {
  static constexpr std::uint32_t kNone[kSamples] = {};
  write(*entry.cell, 0, {}, {}, kNone);
}

enum class Proof : std::uint8_t { kHolds, kWeak, kBroken };

// Compares the samples that lie in `range`. `fetch(address, word)` reads one; false when it cannot.
template <typename Fetch>
Proof prove(const Entry& entry, const Range& range, Fetch fetch) {
  std::size_t compared = 0;
  bool varied = false;
  std::uint32_t first = 0;
  for (std::size_t i = 0; i < kSamples; ++i) {
    std::uintptr_t place = sample_place(entry.range.start, entry.range.bytes, i);
    if (!covers(range, place) || !covers(range, place + 3)) continue;
    std::uint32_t word = 0;
    if (!fetch(place, word) || word != entry.samples[i]) return Proof::kBroken;
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

std::uint32_t site_of(Process& process, const WatchedCall& call) {
  std::uint64_t place = 0;
  if (known_place(process, call, place)) [[likely]] {
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

std::uint32_t packed_from_word(std::uint32_t word) {
  auto dtype = __builtin_bit_cast(DLDataType, word);
  return std::uint32_t{dtype.code} << 16 | std::uint32_t{dtype.bits} << 8 | (dtype.lanes & 0xffU);
}

[[gnu::noinline, gnu::cold]] void check_reinterpretation(Process& process, const WatchedCall& call,
                                                         std::size_t at, const Entry& entry,
                                                         const Range& range) {
  std::uint32_t written = packed_from_word(entry.dtype);
  Proof proof = prove(entry, range, fetch_checked);
  if (proof == Proof::kBroken) return drop(entry);
  if (proof != Proof::kHolds || is_raw_bytes(written) || is_raw_bytes(packed_dtype(*call.operands[at])))
    return;
  record_reinterpretation(process, call, at, {written, entry.chain});
}

// Follows what the call read: the chain of the first operand that has a proved one, after this call's own
// site.
void look_at_input(Process& process, const WatchedCall& call, std::size_t at, OriginChain& chain) {
  const DLTensor& tensor = *call.operands[at];
  Entry entry;
  if (!look_up(process.origins, reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.byte_offset, entry))
    return;
  Range range = range_of(tensor);
  if (range.bytes == 0) return;
  if (entry.dtype != dtype_word(tensor)) [[unlikely]]
    return check_reinterpretation(process, call, at, entry, range);
  if (chain.sites[1] != 0) return;
  Proof proof = prove(entry, range, fetch_good);
  if (proof == Proof::kBroken) drop(entry);
  if (proof != Proof::kHolds) return;
  for (std::size_t i = 1; i < kChainLength; ++i) chain.sites[i] = entry.chain.sites[i - 1];
}

void note_output(Origins& origins, const DLTensor& tensor, const OriginChain& chain) {
  Range range = range_of(tensor);
  if (range.bytes < kSmallest || range.bytes > kLargest) return;
  std::uint32_t samples[kSamples];
  for (std::size_t i = 0; i < kSamples; ++i)
    fetch_good(sample_place(range.start, range.bytes, i), samples[i]);
  unsigned size_class = class_of(range.bytes);
  std::uint64_t bit = std::uint64_t{1} << size_class;
  if ((origins.classes.load(std::memory_order_relaxed) & bit) == 0)
    origins.classes.fetch_or(bit, std::memory_order_relaxed);
  OriginCell& first = cell_at(origins, range.start, size_class);
  OriginCell& last = cell_at(origins, range.start + range.bytes - 1, size_class);
  write(first, dtype_word(tensor), range, chain, samples);
  if (&last != &first) write(last, dtype_word(tensor), range, chain, samples);
}

}  // namespace

void note_outputs(Process& process, const WatchedCall& call) {
  const ApiContract& contract = contract_of(call.api);
  OriginChain chain = {{site_of(process, call)}};
  if (process.origins.classes.load(std::memory_order_relaxed) != 0)
    for (std::size_t i = 0; i < contract.operand_count; ++i)
      if (contract.operands[i].input && call.operands[i] != nullptr) look_at_input(process, call, i, chain);
  if (chain.sites[0] == 0) return;
  for (std::size_t i = 0; i < contract.operand_count; ++i)
    if (contract.operands[i].output && call.operands[i] != nullptr)
      note_output(process.origins, *call.operands[i], chain);
}

bool find_origin(Process& process, const DLTensor& tensor, Origin& origin) {
  Entry entry;
  if (!look_up(process.origins, reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.byte_offset, entry))
    return false;
  Range range = checked_range(tensor);
  if (range.bytes == 0) return false;
  Proof proof = prove(entry, range, fetch_checked);
  if (proof == Proof::kBroken) drop(entry);
  if (proof != Proof::kHolds) return false;
  origin = {packed_from_word(entry.dtype), entry.chain};
  return true;
}

}  // namespace dtype_guard::san
