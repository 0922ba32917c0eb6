#include "sanitizer/runtime/recorder.h"

#include <stdlib.h>
#include <unistd.h>

#include "sanitizer/capture/modules.h"
#include "sanitizer/capture/stack.h"
#include "sanitizer/runtime/dtype_names.h"
#include "sanitizer/runtime/journal_writer.h"
#include "sanitizer/runtime/settings.h"

namespace dtype_guard::san {
namespace {

const ApiContract& contract_of(ApiId api) { return kContracts[static_cast<std::size_t>(api)]; }

// A descriptor whose dtype does not exist or whose rank is absurd is broken: the kernel says so, not we.
bool is_broken(const ApiContract& contract, const DLTensor* const* operands) {
  for (std::size_t i = 0; i < contract.operand_count; ++i) {
    const DLTensor* tensor = operands[i];
    if (tensor == nullptr) continue;
    if (dtype_name(packed_dtype(*tensor)).empty() || tensor->ndim < 0 || tensor->ndim > 64) return true;
  }
  return false;
}

std::uint64_t finding_key(ApiId api, const ApiContract& contract, const DLTensor* const* operands,
                          const Scratch& scratch, std::size_t depth) {
  std::uint64_t key =
      XXH3_64bits_withSeed(scratch.stack, depth * sizeof scratch.stack[0], static_cast<std::uint64_t>(api));
  for (std::size_t i = 0; i < contract.operand_count; ++i) {
    std::uint64_t dtype = operands[i] != nullptr ? packed_dtype(*operands[i]) : 0;
    key = (key ^ dtype) * 0x9e3779b97f4a7c15U;
  }
  return key != 0 ? key : 1;
}

// nullptr when the table is full.
FindingSlot* find_slot(Process& process, std::uint64_t key, bool& is_new) {
  for (std::size_t i = 0; i < Process::kFindingSlots; ++i) {
    FindingSlot& slot = process.findings[(key + i) % Process::kFindingSlots];
    std::uint64_t seen = 0;
    is_new = slot.key.compare_exchange_strong(seen, key, std::memory_order_acq_rel);
    if (is_new || seen == key) return &slot;
  }
  return nullptr;
}

std::uint32_t slot_index(const Process& process, const FindingSlot& slot) {
  return static_cast<std::uint32_t>(&slot - process.findings);
}

void put_operand(FrameBuilder& frame, const OperandContract& contract, const DLTensor* tensor) {
  std::int64_t shape[8];
  std::size_t ndim = tensor != nullptr && tensor->ndim <= 8 ? static_cast<std::size_t>(tensor->ndim) : 0;
  bool known =
      tensor != nullptr && tensor->ndim <= 8 && (ndim == 0 || read_memory(tensor->shape, shape, ndim * 8));
  std::uint32_t flags = (tensor != nullptr ? kOperandPresent : 0U) |
                        (contract.optional ? kOperandOptional : 0U) |
                        (contract.output ? kOperandOutput : 0U) | (known ? kOperandShapeKnown : 0U);
  frame.text(contract.role).u32(flags).u32(tensor != nullptr ? packed_dtype(*tensor) : 0U);
  frame.u64(contract.accepts_set).u32(static_cast<std::uint32_t>(contract.same_as + 1));
  frame.u32(tensor != nullptr ? static_cast<std::uint32_t>(tensor->device.device_type) : 0U);
  frame.u32(tensor != nullptr ? static_cast<std::uint32_t>(tensor->device.device_id) : 0U);
  if (!known) ndim = 0;
  frame.u32(static_cast<std::uint32_t>(ndim));
  for (std::size_t i = 0; i < ndim; ++i) frame.u64(static_cast<std::uint64_t>(shape[i]));
}

bool write_finding(Process& process, Scratch& scratch, std::uint32_t index, const ApiContract& contract,
                   const DLTensor* const* operands, std::size_t depth) {
  record_modules(process, scratch, scratch.stack, scratch.modules, depth);
  FrameBuilder frame(scratch.frame, FrameType::kFinding);
  frame.u32(index).text(contract.name).u64(thread_id()).u64(now_ns());
  frame.u32(static_cast<std::uint32_t>(contract.operand_count));
  for (std::size_t i = 0; i < contract.operand_count; ++i)
    put_operand(frame, contract.operands[i], operands[i]);
  frame.u32(static_cast<std::uint32_t>(depth));
  for (std::size_t i = 0; i < depth; ++i) frame.u32(scratch.modules[i]).u64(scratch.stack[i]);
  return append_frame(process, frame, scratch);
}

void write_count(Process& process, Scratch& scratch, const FindingSlot& slot) {
  FrameBuilder frame(scratch.frame, FrameType::kCount);
  frame.u32(slot_index(process, slot)).u64(slot.count.load(std::memory_order_relaxed));
  (void)append_frame(process, frame, scratch);
}

void write_calls(Process& process, Scratch& scratch, ApiId api) {
  FrameBuilder frame(scratch.frame, FrameType::kCalls);
  frame.text(contract_of(api).name).u64(total_calls(process, api));
  (void)append_frame(process, frame, scratch);
}

[[noreturn]] void halt(Process& process, const ApiContract& contract, const DLTensor* const* operands) {
  TextBuffer<512> message;
  message << "halt_on_error: process " << process_id() << " stops at its first finding, '" << contract.name
          << "' called with ";
  for (std::size_t i = 0; i < contract.operand_count; ++i) {
    if (operands[i] == nullptr) continue;
    message << (i == 0 ? "" : ", ") << contract.operands[i].role << " "
            << dtype_name(packed_dtype(*operands[i]));
  }
  say(message.view());
  record_end(process);
  if (settings().exitcode != 0) _exit(static_cast<int>(settings().exitcode));
  abort();
}

void record(Process& process, Scratch& scratch, ApiId api, const DLTensor* const* operands) {
  const ApiContract& contract = contract_of(api);
  std::size_t depth = capture_stack(scratch.stack, settings().stack_depth);
  std::uint64_t key = finding_key(api, contract, operands, scratch, depth);
  bool is_new = false;
  FindingSlot* slot = find_slot(process, key, is_new);
  if (slot == nullptr) {
    process.unrecorded.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  std::uint64_t count = slot->count.fetch_add(1, std::memory_order_relaxed) + 1;
  if (is_new) {
    bool room = process.finding_count.fetch_add(1, std::memory_order_relaxed) < settings().max_findings;
    bool written = room && open_journal(process, scratch) &&
                   write_finding(process, scratch, slot_index(process, *slot), contract, operands, depth);
    slot->recorded.store(written ? 1 : 0, std::memory_order_release);
    if (!written) process.unrecorded.fetch_add(1, std::memory_order_relaxed);
  } else if ((count & (count - 1)) == 0 && slot->recorded.load(std::memory_order_acquire) != 0) {
    write_count(process, scratch, *slot);
    write_calls(process, scratch, api);
  }
}

}  // namespace

void record_first_call(Process& process, ApiId api, const void* kernel) {
  if (process.kernel_recorded[static_cast<std::size_t>(api)].exchange(1, std::memory_order_acq_rel) != 0)
    return;
  QuietSection quiet;
  ScratchLease lease(process);
  Scratch* scratch = lease.get();
  if (scratch == nullptr || !open_journal(process, *scratch)) return;
  std::uintptr_t address =
      reinterpret_cast<std::uintptr_t>(kernel) + 1;  // modules are looked up at address - 1
  record_modules(process, *scratch, &address, scratch->modules, 1);
  FrameBuilder frame(scratch->frame, FrameType::kKernel);
  frame.text(contract_of(api).name).u32(scratch->modules[0]).u64(address - 1);
  (void)append_frame(process, frame, *scratch);
}

void record_violation(Process& process, ApiId api, const DLTensor* const* operands) {
  if (is_broken(contract_of(api), operands)) return;
  QuietSection quiet;
  {
    ScratchLease lease(process);
    if (lease.get() != nullptr) {
      record(process, *lease.get(), api, operands);
    } else {
      process.unrecorded.fetch_add(1, std::memory_order_relaxed);
    }
  }
  if (settings().halt_on_error) halt(process, contract_of(api), operands);
}

void record_process(Process& process) {
  QuietSection quiet;
  ScratchLease lease(process);
  if (lease.get() != nullptr && open_journal(process, *lease.get())) release_journal(process);
}

std::uint64_t record_end(Process& process) {
  QuietSection quiet;
  std::uint64_t findings = process.finding_count.load(std::memory_order_relaxed);
  if (process.journal.load(std::memory_order_acquire) != static_cast<std::uint32_t>(JournalState::kOpen))
    return findings;
  ScratchLease lease(process);
  if (lease.get() == nullptr) return findings;
  Scratch& scratch = *lease.get();
  for (const FindingSlot& slot : process.findings) {
    if (slot.recorded.load(std::memory_order_acquire) == 0) continue;
    if (slot.count.load(std::memory_order_relaxed) > 1) write_count(process, scratch, slot);
  }
  for (std::size_t i = 0; i < kApiCount; ++i)
    if (process.kernel_recorded[i].load(std::memory_order_relaxed) != 0)
      write_calls(process, scratch, static_cast<ApiId>(i));
  FrameBuilder frame(scratch.frame, FrameType::kClose);
  frame.u64(findings).u64(process.unrecorded.load(std::memory_order_relaxed));
  (void)append_frame(process, frame, scratch);
  release_journal(process);
  return findings;
}

}  // namespace dtype_guard::san
