#include "sanitizer/runtime/counts.h"

#include "sanitizer/contracts/own_contracts.h"
#include "sanitizer/journal/journal_writer.h"
#include "sanitizer/platform/text_buffer.h"
#include "sanitizer/process/bare_children.h"
#include "sanitizer/settings/settings.h"

namespace dtype_guard::san {

std::uint32_t slot_index(const Process& process, const FindingSlot& slot) {
  return static_cast<std::uint32_t>(&slot - process.findings);
}

void write_count(Process& process, Scratch& scratch, FindingSlot& slot) {
  const std::uint64_t count = slot.count.load(std::memory_order_relaxed);
  if (count == slot.told.load(std::memory_order_relaxed)) return;
  FrameBuilder frame(scratch.frame, FrameType::kCount);
  frame.u32(slot_index(process, slot)).u64(count);
  if (append_frame(process, frame, scratch)) slot.told.store(count, std::memory_order_relaxed);
}

void write_calls(Process& process, Scratch& scratch, ApiId api) {
  const std::uint64_t calls = total_calls(process, api);
  std::atomic<std::uint64_t>& told = process.told_calls[static_cast<std::size_t>(api)];
  // 0 is what is not counted, as PyTorch's operators that raised.
  if (calls == told.load(std::memory_order_relaxed)) return;
  FrameBuilder frame(scratch.frame, FrameType::kCalls);
  frame.text(contract_of(api).name).u64(calls);
  if (append_frame(process, frame, scratch)) told.store(calls, std::memory_order_relaxed);
}

std::uint64_t write_repeats(Process& process, Scratch& scratch) {
  std::uint64_t recorded = 0;
  for (FindingSlot& slot : process.findings) {
    if (slot.recorded.load(std::memory_order_acquire) != kRecorded) continue;
    ++recorded;
    if (slot.count.load(std::memory_order_relaxed) > 1) write_count(process, scratch, slot);
  }
  for (std::size_t i = 0; i < kAllApis; ++i)
    if (process.kernel_recorded[i].load(std::memory_order_relaxed) != 0)
      write_calls(process, scratch, static_cast<ApiId>(i));
  return recorded;
}

void write_bare_children(Process& process, Scratch& scratch) {
  const std::uint64_t bare = take_bare_children();
  if (bare == 0) return;
  TextBuffer<256> text;
  text << bare << (bare == 1 ? " child" : " children") << kBareChildren
       << (settings().journal_in_memory ? "`dtype-san run` watches a job and its children"
                                        : "Pass LD_PRELOAD and DTYPE_SAN_OPTIONS on to it");
  write_note(process, scratch, text.view());
}

namespace {
bool is_open(const Process& process) {
  const auto state = static_cast<JournalState>(process.journal.load(std::memory_order_acquire));
  return state == JournalState::kOpen;
}
}  // namespace

void record_calls(Process& process, ApiId api) {
  QuietSection quiet;
  if (!is_open(process)) return;
  ScratchLease lease(process);
  if (lease.get() != nullptr) write_calls(process, *lease.get(), api);
}

void record_repeats(Process& process) {
  QuietSection quiet;
  if (!is_open(process)) return;
  ScratchLease lease(process);
  if (lease.get() == nullptr) return;
  (void)write_repeats(process, *lease.get());
  write_bare_children(process, *lease.get());
}

}  // namespace dtype_guard::san
