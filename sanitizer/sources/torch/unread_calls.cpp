#include "sanitizer/sources/torch/unread_calls.h"

#include <atomic>

#include "sanitizer/platform/text_buffer.h"

namespace dtype_guard::san::torch {
namespace {

constexpr std::size_t kMost = 64;

struct Unread {
  std::atomic<const ApiContract*> contract;
  std::atomic<std::uint64_t> calls;
};
constinit Unread unread[kMost] = {};

}  // namespace

void note_unread(const ApiContract& called) {
  const ApiContract* contract = &called;
  for (Unread& one : unread) {
    const ApiContract* known = one.contract.load(std::memory_order_relaxed);
    if (known != contract &&
        (known != nullptr || (!one.contract.compare_exchange_strong(known, contract) && known != contract)))
      continue;
    one.calls.fetch_add(1, std::memory_order_relaxed);
    return;
  }
}

void write_unread(Process& process, Scratch& scratch) {
  for (const Unread& one : unread) {
    const std::uint64_t calls = one.calls.load(std::memory_order_relaxed);
    if (calls == 0) continue;
    TextBuffer<200> name;
    name << one.contract.load()->name << " (traced, batched, nested or empty tensors)";
    FrameBuilder frame(scratch.frame, FrameType::kUnseen);
    frame.text(name.view()).u64(calls);
    (void)append_frame(process, frame, scratch);
  }
}

void forget_unread() {
  for (Unread& one : unread) one.calls.store(0, std::memory_order_relaxed);
}

}  // namespace dtype_guard::san::torch
