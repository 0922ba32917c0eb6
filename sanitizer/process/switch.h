// This process's switch: whether calls are looked at right now. One word, read by every watched call, in a
// page that another process may write to (control_page.h); a word of our own where such a page cannot be had.
#pragma once

#include <atomic>
#include <cstdint>

#include "sanitizer/protocol/control_page.h"

namespace dtype_guard::san {

struct Process;

// Off until the options have been read (runtime/watching.h), so that a call which is watched looks at this
// one word.
inline constinit std::atomic<std::uint32_t> own_switch{0};
inline constinit std::atomic<std::atomic<std::uint32_t>*> switch_word{&own_switch};

inline bool is_switched_on() {
  return switch_word.load(std::memory_order_relaxed)->load(std::memory_order_relaxed) != 0;
}
inline void switch_watching(bool on) { switch_word.load()->store(on ? 1 : 0, std::memory_order_relaxed); }

// The page that other processes find; null before there is one. At one address in the parent and its
// children.
ControlPage* control_page();
void use_control_page(ControlPage* page);

// Writes to the page what another process may read there of the journal: its path, and why findings are not
// recorded. To be called after each change of those.
void show_journal(Process& process);

}  // namespace dtype_guard::san
