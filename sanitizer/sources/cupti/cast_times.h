// How long casts take on the device, with the option cast_time: an event before and one behind a cast's
// launch. Their times are read later, when the device has passed them, and counted where the cast is found to
// feed an attention kernel. Never inside a graph capture, where events would become part of the graph.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sanitizer/sources/cupti/cast_links.h"
#include "sanitizer/sources/cupti/driver.h"

namespace dtype_guard::san::cupti {

class CastTimes {
 public:
  static constexpr std::uint32_t kTimers = 64;

  // Before and behind the launch of a cast. start() gives a ticket for it; 0: none is free, or the stream is
  // being captured.
  std::uint32_t start(const Driver& driver, const void* context, void* stream);
  void stop(const Driver& driver, std::uint32_t ticket, void* stream);

  // The cast of this ticket is `link`. What is not claimed in time belongs to another call then.
  void claim(std::uint32_t ticket, std::uint32_t link);
  // Adds the times that are known by now.
  void collect(const Driver& driver, CastLinks& links);

 private:
  enum State : std::uint32_t { kFree, kStarting, kStopped, kClaimed, kBroken };
  struct Timer {
    std::atomic<std::uint32_t> state;
    const void* context;  // that its events belong to
    void* begin;
    void* end;
    std::uint32_t link;
    std::atomic<std::uint32_t> ticket;
  };
  bool prepare(const Driver& driver, Timer& timer, const void* context);

  Timer& timer_of(std::uint32_t ticket) { return timers_[ticket % kTimers]; }

  std::atomic<std::uint32_t> next_;
  Timer timers_[kTimers];
};

}  // namespace dtype_guard::san::cupti
