#include "sanitizer/sources/torch/stand_ins.h"

#include <string.h>

#include <atomic>
#include <string_view>

#include "sanitizer/platform/system.h"

namespace dtype_guard::san::torch {
namespace {

constexpr std::string_view kPrefix = "stand_in::";
constexpr std::size_t kStandIns = 8, kLongest = 64;

struct StandIn {
  std::atomic<std::uint32_t> state;       // 1: taken, 2: named
  std::atomic<std::uint64_t> journal_of;  // the process whose journal has it
  char name[kLongest];
};
constinit StandIn stand_ins[kStandIns] = {};

// The call that it is part of has begun, and may be a finding already.
void write_now() {
  Process* mapped = process();
  if (mapped == nullptr) return;
  QuietSection quiet;
  ScratchLease lease(*mapped);
  if (lease.get() != nullptr && open_journal(*mapped, *lease.get())) write_stand_ins(*mapped, *lease.get());
}

}  // namespace

void note_stand_in(const char* operator_name) {
  if (strncmp(operator_name, kPrefix.data(), kPrefix.size()) != 0) return;
  for (StandIn& one : stand_ins) {
    const bool is_named = one.state.load(std::memory_order_acquire) == 2;
    if (is_named && strncmp(one.name, operator_name, kLongest - 1) == 0) return;
    std::uint32_t free = 0;
    if (!one.state.compare_exchange_strong(free, 1, std::memory_order_acq_rel)) continue;
    strncpy(one.name, operator_name, kLongest - 1);
    one.state.store(2, std::memory_order_release);
    return write_now();
  }
}

void write_stand_ins(Process& process, Scratch& scratch) {
  const auto self = static_cast<std::uint64_t>(process_id());
  for (StandIn& one : stand_ins) {
    if (one.state.load(std::memory_order_acquire) != 2) continue;
    if (one.journal_of.exchange(self, std::memory_order_acq_rel) == self) continue;
    FrameBuilder frame(scratch.frame, FrameType::kUnseen);
    frame.text(one.name).u64(1);
    if (!append_frame(process, frame, scratch)) one.journal_of.store(0, std::memory_order_release);
  }
}

}  // namespace dtype_guard::san::torch
