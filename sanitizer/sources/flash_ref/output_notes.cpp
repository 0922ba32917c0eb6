#include "sanitizer/sources/flash_ref/output_notes.h"

#include "sanitizer/contracts/own_contracts.h"
#include "sanitizer/process/origin_map.h"
#include "sanitizer/process/place.h"
#include "sanitizer/runtime/recorder.h"

namespace dtype_guard::san {
namespace {

using namespace origin_map;

[[gnu::noinline, gnu::cold]] std::uint32_t new_site(Process& process, ApiId api,
                                                    const DLTensor* const* operands, std::uintptr_t caller) {
  return record_site(process, {api, operands, caller});
}

[[gnu::always_inline]] inline std::uint32_t site_of(Process& process, const WatchedCall& call,
                                                    std::size_t count) {
  std::uint64_t place = 0;
  if (known_place(process.places, call, count, place)) [[likely]] {
    for (std::size_t i = 0; i < Origins::kSiteProbes; ++i) {
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
  if (process.origins.full.load(std::memory_order_relaxed) != 0) return 0;
  return new_site(process, call.api, call.operands, call.caller);
}

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
// site. Values go in and out in registers, as everywhere off the clean path: what is passed by address would
// have to lie in memory there too.
[[gnu::noinline]] OriginChain follow_input(Process& process, std::uint32_t api_and_operand,
                                           const DLTensor* const* operands, std::uintptr_t caller,
                                           OriginCell& cell, OriginChain chain) {
  std::size_t at = api_and_operand & 0xffU;
  const DLTensor& tensor = *operands[at];
  Entry entry;
  if (!read(cell, address_of(tensor), entry)) return chain;
  Range range = range_of(tensor);
  if (range.bytes == 0) return chain;
  if (entry.dtype() != dtype_word(tensor)) [[unlikely]] {
    check_reinterpretation(process, {static_cast<ApiId>(api_and_operand >> 8), operands, caller}, at, entry,
                           range);
    return chain;
  }
  if (chain.near >> 32 != 0) return chain;
  Proof proof = prove(entry, range, fetch_good);
  if (proof == Proof::kBroken) drop(entry);
  return proof == Proof::kHolds ? entry.chain.after(chain.site(0)) : chain;
}

[[gnu::always_inline]] inline void note_output(Origins& origins, const DLTensor& tensor,
                                               const OriginChain& chain) {
  Range range = range_of(tensor);
  if (range.bytes < kSmallest || range.bytes > kLargest) return;
  OriginEntry entry = {range.start, range.bytes, dtype_word(tensor), chain, {}};
  std::uint64_t step = sample_step(range.bytes);
#pragma GCC unroll 3
  for (std::size_t i = 0; i < kSamples; i += 2) {
    std::uint64_t high = word_at(range.start + step * (i + 1));
    entry.samples[i / 2] = word_at(range.start + step * i) | high << 32;
  }
  unsigned size_class = class_of(range.bytes);
  std::uint64_t bit = std::uint64_t{1} << size_class;
  if ((origins.classes.load(std::memory_order_relaxed) & bit) == 0)
    origins.classes.fetch_or(bit, std::memory_order_relaxed);
  write(cell_at(origins, cell_hash(range.start, size_class)), entry);
}

// With a contract that is a constant, the loops and their conditions are gone.
[[gnu::always_inline]] inline void note(Process& process, const WatchedCall& call,
                                        const ApiContract& contract) {
  OriginChain chain = {site_of(process, call, contract.operand_count), 0};
#pragma GCC unroll 12
  for (std::size_t i = 0; i < contract.operand_count; ++i) {
    if (!contract.operands[i].input || call.operands[i] == nullptr) continue;
    if (OriginCell* cell = look_up(process.origins, address_of(*call.operands[i]))) [[unlikely]]
      chain = follow_input(process, static_cast<std::uint32_t>(call.api) << 8 | static_cast<std::uint32_t>(i),
                           call.operands, call.caller, *cell, chain);
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
#include "sanitizer/sources/flash_ref/apis.inc"
#undef DTYPE_SAN_API

}  // namespace dtype_guard::san
