// A count that notes of the journal speak of. There may be several notes, as of a process that tries to
// become another program: each says what came since the one before. A forked child starts from zero: its
// parent tells of its own.
#pragma once

#include <atomic>
#include <cstdint>

namespace dtype_guard::san::torch {

class ToldCount {
 public:
  void add(std::uint64_t more) { count_.fetch_add(more, std::memory_order_relaxed); }
  std::uint64_t take_untold() {
    const std::uint64_t now = count_.load(std::memory_order_relaxed);
    return now - told_.exchange(now, std::memory_order_relaxed);
  }
  void forget() { (void)take_untold(); }

 private:
  std::atomic<std::uint64_t> count_{0}, told_{0};
};

}  // namespace dtype_guard::san::torch
