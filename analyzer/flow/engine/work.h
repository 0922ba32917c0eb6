// What is evaluated in all, in steps. One in a large state may take longer: what is gone through of the state
// counts as well (Effort). It is counted and not timed: every machine comes equally far.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace dtype_guard::flow {

class Work {
 public:
  void allow(std::size_t steps) { allowed_ = done_ + std::min(steps, kMost) * kStep; }
  // Of these, for the root that begins now.
  void allow_root(std::size_t steps) { allowed_to_root_ = done_ + std::min(steps, kMost) * kStep; }
  void add_step(std::size_t effort) { done_ += kStep + effort; }
  bool is_used_up() const { return done_ > allowed_; }
  bool is_used_up_by_root() const { return done_ > allowed_to_root_; }
  std::size_t steps() const { return done_ / kStep; }

  // Between these: what roots share (SharedWork).
  struct Mark {
    std::size_t done, to_root;
  };
  Mark begin_shared() { return {done_, std::exchange(allowed_to_root_, allowed_)}; }
  void end_shared(const Mark& begun) { allowed_to_root_ = begun.to_root + (done_ - begun.done); }

 private:
  static constexpr std::size_t kStep = 8192;  // as much effort takes as long again
  static constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max() / kStep / 2;
  std::size_t done_ = 0, allowed_ = kMost * kStep, allowed_to_root_ = allowed_;
};

// While it lives: what roots share. It is not taken from the part of the root that comes to it first.
class SharedWork {
 public:
  explicit SharedWork(Work& work) : work_(work), begun_(work.begin_shared()) {}
  ~SharedWork() { work_.end_shared(begun_); }
  SharedWork(const SharedWork&) = delete;
  SharedWork& operator=(const SharedWork&) = delete;

 private:
  Work& work_;
  const Work::Mark begun_;
};

}  // namespace dtype_guard::flow
