#include "sanitizer/process/process.h"

#include "sanitizer/platform/wiped_in_child.h"

namespace dtype_guard::san {

Process* process_slow() {
  static constinit WipedInChild<Process> memory;
  Process* mapped = memory.get();
  if (mapped == nullptr) return nullptr;
  keep_process_id_at(&mapped->owner);
  process_mapping.store(mapped, std::memory_order_release);
  return mapped;
}

CallSlot* claim_call_slot(Process& process, std::uintptr_t thread) {
  std::size_t start = (thread * 0x9e3779b97f4a7c15U) >> 54;
  constexpr std::size_t kProbes = 32;
  for (std::size_t i = 0; i < kProbes; ++i) {
    CallSlot& slot = process.calls[(start + i) % Process::kCallSlots];
    std::uintptr_t owner = slot.thread.load(std::memory_order_relaxed);
    if (owner == thread || owner == thread + 1) return &slot;
    if (owner == 0 && slot.thread.compare_exchange_strong(owner, thread, std::memory_order_relaxed))
      return &slot;
    if (owner == thread) return &slot;
  }
  return nullptr;
}

bool tell_journal_problem(const Process& process, TextSink& to) {
  const std::uint32_t error = process.open_error.load(std::memory_order_relaxed);
  if (error == 0) return false;
  to << "no journal can be created (" << error_text(-static_cast<long>(error)) << ") at '"
     << process.journal_path << '\'';
  return true;
}

std::uint64_t total_calls(const Process& process, ApiId api) {
  auto index = static_cast<std::size_t>(api);
  std::uint64_t total = process.shared_calls[index].load(std::memory_order_relaxed);
  for (const CallSlot& slot : process.calls) total += slot.calls[index].load(std::memory_order_relaxed);
  return total;
}

ScratchLease::ScratchLease(Process& process) {
  Patience patience;
  do {
    for (Scratch& scratch : process.scratches) {
      if (scratch.taken.exchange(1, std::memory_order_acquire) == 0) {
        scratch_ = &scratch;
        return;
      }
    }
  } while (patience.wait());
}

ScratchLease::~ScratchLease() {
  if (scratch_ != nullptr) scratch_->taken.store(0, std::memory_order_release);
}

}  // namespace dtype_guard::san
