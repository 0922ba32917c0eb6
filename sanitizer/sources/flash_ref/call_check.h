// What is done for each call of a watched API, however it was seen: count it, compare its dtypes with the
// contract before the kernel runs, note what it wrote afterwards.
//
// The clean path, in order: find this thread's counters, add one, pack each operand's dtype and compare it
// with the contract's constants; after the kernel, look up the call site and note the outputs
// (process/origins.h). No lock, allocation, system call or clock; what is slow is out of line.
#pragma once

#include <dlpack/dlpack.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "sanitizer/contracts/contract_table.h"
#include "sanitizer/contracts/own_contracts.h"
#include "sanitizer/process/call_counts.h"
#include "sanitizer/process/origins.h"
#include "sanitizer/process/process.h"
#include "sanitizer/runtime/recorder.h"
#include "sanitizer/runtime/watching.h"
#include "sanitizer/sources/flash_ref/output_notes.h"

namespace dtype_guard::san {

template <ApiId id>
constexpr const ApiContract& kContract = kContracts[static_cast<std::size_t>(id)];

template <ApiId id, std::size_t operand, std::size_t... entry>
[[gnu::always_inline]] inline bool listed(std::uint32_t word, std::index_sequence<entry...>) {
  constexpr const OperandContract& contract = kContract<id>.operands[operand];
  return ((contract.accepts[entry] != 0 && word == as_word(contract.accepts[entry])) || ...);
}

// With a list and an operand to equal, either is enough.
template <ApiId id, std::size_t operand>
[[gnu::always_inline]] inline bool operand_accepted(const DLTensor* const* operands) {
  constexpr const OperandContract& contract = kContract<id>.operands[operand];
  if (operands[operand] == nullptr) return true;
  std::uint32_t word = dtype_word(*operands[operand]);
  if constexpr (contract.same_as >= 0) {
    const DLTensor* other = operands[contract.same_as];
    if (other == nullptr || dtype_word(*other) == word) return true;
    if constexpr (contract.accepts[0] == 0) return false;
  }
  if constexpr (contract.accepts[0] == 0) return true;
  return listed<id, operand>(word, std::make_index_sequence<kMaxAccepted>());
}

// True when the contract holds, and also when a required operand is NULL: that is for the kernel to refuse.
// Unrolled over the contract's constants: what remains at run time is one comparison for each dtype that may
// be.
template <ApiId id, std::size_t... operand>
[[gnu::always_inline]] inline bool accepted(const DLTensor* const* operands,
                                            std::index_sequence<operand...>) {
  if (((operands[operand] == nullptr && !kContract<id>.operands[operand].optional) || ...)) return true;
  return (operand_accepted<id, operand>(operands) && ...);
}

// The tensors that lie in the options, which are not null; records what breaks the contract.
void check_options(Process& process, ApiId api, const DLTensor* const* operands, const void* options,
                   std::uintptr_t caller);
template <ApiId id, typename Call>
[[gnu::always_inline]] inline void check_options_of(Process& process, Call call) {
  if constexpr (kOptionContracts[static_cast<std::size_t>(id)].operand_count != 0) {
    if (call.options() != nullptr) [[unlikely]]
      return check_options(process, id, call.operands(), call.options(), call.caller());
  }
}

// Apart and last, so that the clean path keeps nothing on the stack. A Call knows operands(), options(),
// caller() and kernel(), an address in the copy that is called; the clean path asks for the first two alone.
template <ApiId id, typename Call>
[[gnu::noinline, gnu::cold]] void record_wrong(Process& process, Call call) {
  record_violation(process, {id, call.operands(), call.caller()});
}
template <ApiId id, typename Call>
[[gnu::noinline, gnu::cold]] void record_first(Process& process, Call call) {
  record_first_call(process, id, call.kernel());
  if (!accepted<id>(call.operands(), std::make_index_sequence<kContract<id>.operand_count>()))
    record_wrong<id>(process, call);
  else
    check_options_of<id>(process, call);
}

// `slot` is this thread's, or null.
template <ApiId id, typename Call>
[[gnu::always_inline]] inline void before_call(Process& process, CallSlot* slot, Call call) {
  if (count_call(process, slot, id)) [[unlikely]]
    return record_first<id>(process, call);
  if (!accepted<id>(call.operands(), std::make_index_sequence<kContract<id>.operand_count>())) [[unlikely]]
    return record_wrong<id>(process, call);
  check_options_of<id>(process, call);
}

template <ApiId id>
[[gnu::always_inline]] inline void after_call(Process& process, const DLTensor* const* operands,
                                              std::uintptr_t caller, int status) {
  if (status == 0 && noting_origins.load(std::memory_order_relaxed))
    return note_outputs_of<id>(process, operands, caller);
}

// The same for an API whose contract came with the option `contracts`.
void before_own_call(Process& process, const WatchedCall& call, std::uintptr_t kernel);

}  // namespace dtype_guard::san
