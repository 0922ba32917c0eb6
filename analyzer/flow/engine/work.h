// What is evaluated in all, in steps. One in a large state may take longer: what is gone through of the state
// counts as well (Effort). It is counted and not timed: every machine comes equally far.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

namespace dtype_guard::flow {

class Work {
 public:
  void allow(std::size_t steps) { allowed_ = done_ + std::min(steps, kMost) * kStep; }
  // One root takes at most half of what is left, so that one that explodes leaves something to those after
  // it.
  void begin_root(bool is_last) {
    const std::size_t left = allowed_ - std::min(allowed_, done_);
    allowed_to_root_ = done_ + (is_last ? left : left / 2);
  }
  void add_step(std::size_t effort) { done_ += kStep + effort; }
  bool is_used_up() const { return done_ > allowed_; }
  bool is_used_up_by_root() const { return done_ > allowed_to_root_; }
  std::size_t steps() const { return done_ / kStep; }

 private:
  static constexpr std::size_t kStep = 8192;  // as much effort takes as long again
  static constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max() / kStep / 2;
  std::size_t done_ = 0, allowed_ = kMost * kStep, allowed_to_root_ = allowed_;
};

}  // namespace dtype_guard::flow
