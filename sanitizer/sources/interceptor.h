// Interceptors: functions of this library that carry the name of a kernel, so that a call through the PLT of
// a preloaded program arrives here first.
//
// How to add an API (say flash_ref_decode):
//   1. Its contract goes into rules/contracts/<library>.json.
//   2. One row goes into sources/<library>/apis.inc: name, C parameters, arguments, tensor operands in the
//   contract's
//      order. Row and contract are compared at build time.
//   3. Nothing else: the export list, the contract table, the interceptor and the counters are made from that
//   row. A
//      process test that calls the kernel with a wrong dtype shows that it is seen.
// How to add a source (a library or a hook of its own): a folder beside flash_ref with its apis.inc, a line
// in sources/apis.inc, and a row in symbolize/sources.inc, which tells the report what was on and why.
//
// The clean path of an interceptor, in order: find this thread's counters, add one, pack each operand's dtype
// and compare it with the contract's constants, jump to the kernel. No lock, allocation, system call or
// clock; the two slow functions are out of line and take the operands by value, so that the last step can be
// a tail call.
#pragma once

#include <dlpack/dlpack.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "sanitizer/runtime/contract_table.h"
#include "sanitizer/runtime/process.h"
#include "sanitizer/runtime/recorder.h"

namespace dtype_guard::san {

enum class Watching : std::uint8_t { kUnknown, kOn, kOff };
inline std::atomic<Watching> watching{Watching::kUnknown};

// Kernels that lie in objects of the program's start.
inline std::atomic<void*> kernels[kApiCount];

// Off the clean path; both in interceptor.cpp.
void* find_kernel_slow(ApiId api, std::uintptr_t caller);
void first_call_slow(Process* process, ApiId api, std::uintptr_t caller);
Watching decide_watching();

template <ApiId id>
constexpr const ApiContract& kContract = kContracts[static_cast<std::size_t>(id)];

// A dtype as it lies in the descriptor, read as one word, and a contract's packed dtype in that order.
inline std::uint32_t dtype_word(const DLTensor& tensor) {
  static_assert(sizeof tensor.dtype == sizeof(std::uint32_t));
  return __builtin_bit_cast(std::uint32_t, tensor.dtype);
}
constexpr std::uint32_t as_word(std::uint32_t packed) {
  return __builtin_bit_cast(std::uint32_t, DLDataType{static_cast<std::uint8_t>(packed >> 16),
                                                      static_cast<std::uint8_t>(packed >> 8),
                                                      static_cast<std::uint16_t>(packed & 0xffU)});
}

template <ApiId id, std::size_t operand, std::size_t... entry>
[[gnu::always_inline]] inline bool listed(std::uint32_t word, std::index_sequence<entry...>) {
  constexpr const OperandContract& contract = kContract<id>.operands[operand];
  if constexpr (contract.accepts[0] == 0) return true;
  return ((contract.accepts[entry] != 0 && word == as_word(contract.accepts[entry])) || ...);
}

template <ApiId id, std::size_t operand, typename Operands>
[[gnu::always_inline]] inline bool operand_accepted(const Operands& operands) {
  constexpr const OperandContract& contract = kContract<id>.operands[operand];
  if (operands[operand] == nullptr) return true;
  std::uint32_t word = dtype_word(*operands[operand]);
  if constexpr (contract.same_as >= 0) {
    const DLTensor* other = operands[contract.same_as];
    if (other != nullptr && dtype_word(*other) != word) return false;
  }
  return listed<id, operand>(word, std::make_index_sequence<kMaxAccepted>());
}

template <ApiId id, typename Operands, std::size_t... operand>
[[gnu::always_inline]] inline bool all_accepted(const Operands& operands, std::index_sequence<operand...>) {
  if (((operands[operand] == nullptr && !kContract<id>.operands[operand].optional) || ...)) return true;
  return (operand_accepted<id, operand>(operands) && ...);
}

// True when the contract holds, and also when a required operand is NULL: that is for the kernel to refuse.
// Unrolled over the contract's constants: what remains at run time is one comparison for each dtype that may
// be.
template <ApiId id, typename... Tensors>
[[gnu::always_inline]] inline bool accepted(Tensors... tensors) {
  static_assert(sizeof...(Tensors) == kContract<id>.operand_count);
  const DLTensor* const operands[] = {tensors...};
  return all_accepted<id>(operands, std::index_sequence_for<Tensors...>());
}

template <ApiId id, typename... Tensors>
[[gnu::noinline, gnu::cold]] void refused(Process* process, Tensors... tensors) {
  const DLTensor* const operands[] = {tensors...};
  record_violation(*process, id, operands);
}

template <ApiId id>
[[gnu::always_inline]] inline void count_call(Process* mapped, std::uintptr_t caller) {
  constexpr auto index = static_cast<std::size_t>(id);
  CallSlot* slot = call_slot(*mapped);
  if (slot == nullptr) [[unlikely]] {
    if (mapped->shared_calls[index].fetch_add(1, std::memory_order_relaxed) == 0)
      first_call_slow(mapped, id, caller);
    return;
  }
  std::uint64_t before = slot->calls[index].load(std::memory_order_relaxed);
  slot->calls[index].store(before + 1, std::memory_order_relaxed);
  if (before == 0) [[unlikely]]
    first_call_slow(mapped, id, caller);
}

template <ApiId id, typename... Tensors>
[[gnu::always_inline]] inline void watch_call(std::uintptr_t caller, Tensors... tensors) {
  Watching state = watching.load(std::memory_order_relaxed);
  if (state != Watching::kOn) [[unlikely]] {
    if (state == Watching::kUnknown) state = decide_watching();
    if (state != Watching::kOn) return;
  }
  Process* mapped = process();
  if (mapped == nullptr) [[unlikely]]
    return;
  count_call<id>(mapped, caller);
  if (!accepted<id>(tensors...)) [[unlikely]]
    refused<id>(mapped, tensors...);
}

template <ApiId id>
[[gnu::always_inline]] inline void* kernel_of(std::uintptr_t caller) {
  void* kernel = kernels[static_cast<std::size_t>(id)].load(std::memory_order_relaxed);
  return kernel != nullptr ? kernel : find_kernel_slow(id, caller);
}

}  // namespace dtype_guard::san

#define DTYPE_SAN_STRIP_PARENTHESES(...) __VA_ARGS__
#define DTYPE_SAN_INTERCEPTOR(name, parameters, arguments, tensors)                       \
  extern "C" __attribute__((visibility("default"))) int name parameters {                 \
    using namespace dtype_guard::san;                                                     \
    auto caller = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1;      \
    watch_call<ApiId::name>(caller, DTYPE_SAN_STRIP_PARENTHESES tensors);                 \
    return reinterpret_cast<int(*) parameters>(kernel_of<ApiId::name>(caller)) arguments; \
  }
