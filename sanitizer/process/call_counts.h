// Counting a call on the clean path.
#pragma once

#include "sanitizer/process/process.h"

namespace dtype_guard::san {

// By the thread that owns it, in one instruction: a signal's handler may count between two.
[[gnu::always_inline]] inline void add_one(std::atomic<std::uint64_t>& count) {
#if defined(__x86_64__)
  asm volatile("addq $1, %0" : "+m"(count) : : "cc");
#else
  count.fetch_add(1, std::memory_order_relaxed);
#endif
}

// Counts a call; true for the first of this API on this thread.
[[gnu::always_inline]] inline bool count_call(Process& process, CallSlot* slot, ApiId api) {
  auto index = static_cast<std::size_t>(api);
  if (slot == nullptr) [[unlikely]]
    return process.shared_calls[index].fetch_add(1, std::memory_order_relaxed) == 0;
  const bool is_first = slot->calls[index].load(std::memory_order_relaxed) == 0;
  add_one(slot->calls[index]);
  return is_first;
}

}  // namespace dtype_guard::san
