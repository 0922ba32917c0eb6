#include "sanitizer/runtime/counts.h"

#include "sanitizer/contracts/own_contracts.h"
#include "sanitizer/journal/journal_writer.h"

namespace dtype_guard::san {

std::uint32_t slot_index(const Process& process, const FindingSlot& slot) {
  return static_cast<std::uint32_t>(&slot - process.findings);
}

void write_count(Process& process, Scratch& scratch, const FindingSlot& slot) {
  FrameBuilder frame(scratch.frame, FrameType::kCount);
  frame.u32(slot_index(process, slot)).u64(slot.count.load(std::memory_order_relaxed));
  (void)append_frame(process, frame, scratch);
}

void write_calls(Process& process, Scratch& scratch, ApiId api) {
  const std::uint64_t calls = total_calls(process, api);
  if (calls == 0) return;  // of what is not counted, as PyTorch's operators that raised
  FrameBuilder frame(scratch.frame, FrameType::kCalls);
  frame.text(contract_of(api).name).u64(calls);
  (void)append_frame(process, frame, scratch);
}

std::uint64_t write_repeats(Process& process, Scratch& scratch) {
  std::uint64_t recorded = 0;
  for (const FindingSlot& slot : process.findings) {
    if (slot.recorded.load(std::memory_order_acquire) != kRecorded) continue;
    ++recorded;
    if (slot.count.load(std::memory_order_relaxed) > 1) write_count(process, scratch, slot);
  }
  for (std::size_t i = 0; i < kAllApis; ++i)
    if (process.kernel_recorded[i].load(std::memory_order_relaxed) != 0)
      write_calls(process, scratch, static_cast<ApiId>(i));
  return recorded;
}

void record_repeats(Process& process) {
  QuietSection quiet;
  const auto state = static_cast<JournalState>(process.journal.load(std::memory_order_acquire));
  if (state != JournalState::kOpen) return;
  ScratchLease lease(process);
  if (lease.get() != nullptr) (void)write_repeats(process, *lease.get());
}

}  // namespace dtype_guard::san
