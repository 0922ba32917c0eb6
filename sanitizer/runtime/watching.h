// Whether events are looked at: the options say so at the first one, the switch (process/switch.h) from then
// on.
#pragma once

#include <atomic>
#include <cstdint>

#include "sanitizer/process/switch.h"

namespace dtype_guard::san {

enum class Watching : std::uint8_t { kUnknown, kOn, kOff };
inline std::atomic<Watching> watching{Watching::kUnknown};
inline std::atomic<bool> noting_origins{false};

// Reads the options at the first call, and sets the switch as they say.
Watching decide_watching();

inline bool is_decided() { return watching.load(std::memory_order_relaxed) != Watching::kUnknown; }
inline bool is_watching() {
  if (is_switched_on()) [[likely]]
    return true;
  return !is_decided() && decide_watching() == Watching::kOn && is_switched_on();
}

}  // namespace dtype_guard::san
