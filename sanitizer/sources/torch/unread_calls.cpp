#include "sanitizer/sources/torch/unread_calls.h"

#include <string.h>

#include <atomic>

#include "sanitizer/contracts/own_contracts.h"
#include "sanitizer/platform/text_buffer.h"

namespace dtype_guard::san::torch {
namespace {

constexpr std::size_t kApis = 256;
constinit std::atomic<std::uint64_t> unread[kUnreadReasons][kApis] = {};
constinit std::atomic<std::uint64_t> other_records{0};

using Text = TextBuffer<200>;

void add_reason(Text& text, Unread why) {
  text << (why == Unread::kNoMemory ? " (traced, batched, nested or empty tensors)"
                                    : " (no room for the records of their threads)");
}

// Contracts of several versions have one name. 0 where an earlier one has told of it.
std::uint64_t calls_of(const std::atomic<std::uint64_t> (&counts)[kApis], std::size_t api) {
  const char* name = contract_of(static_cast<ApiId>(api)).name;
  std::uint64_t calls = 0;
  for (std::size_t i = 0; i < kApis; ++i) {
    const std::uint64_t some = counts[i].load(std::memory_order_relaxed);
    if (some == 0 || strcmp(contract_of(static_cast<ApiId>(i)).name, name) != 0) continue;
    if (i < api) return 0;
    calls += some;
  }
  return calls;
}

void write_one(Process& process, Scratch& scratch, const Text& name, std::uint64_t count) {
  FrameBuilder frame(scratch.frame, FrameType::kUnseen);
  frame.text(name.view()).u64(count);
  (void)append_frame(process, frame, scratch);
}

}  // namespace

void note_unread(ApiId api, Unread why) {
  unread[static_cast<std::size_t>(why)][static_cast<std::size_t>(api)].fetch_add(1,
                                                                                 std::memory_order_relaxed);
}

void note_unread_record() { other_records.fetch_add(1, std::memory_order_relaxed); }

void write_unread(Process& process, Scratch& scratch) {
  for (std::size_t reason = 0; reason < kUnreadReasons; ++reason) {
    for (std::size_t api = 0; api < kApis; ++api) {
      if (unread[reason][api].load(std::memory_order_relaxed) == 0) continue;
      const std::uint64_t calls = calls_of(unread[reason], api);
      if (calls == 0) continue;
      Text name;
      name << contract_of(static_cast<ApiId>(api)).name;
      add_reason(name, static_cast<Unread>(reason));
      write_one(process, scratch, name, calls);
    }
  }
  const std::uint64_t others = other_records.load(std::memory_order_relaxed);
  if (others == 0) return;
  Text name;
  name << "other operators";
  add_reason(name, Unread::kNoRoom);
  write_one(process, scratch, name, others);
}

void forget_unread() {
  for (auto& reason : unread)
    for (std::atomic<std::uint64_t>& calls : reason) calls.store(0, std::memory_order_relaxed);
  other_records.store(0, std::memory_order_relaxed);
}

}  // namespace dtype_guard::san::torch
