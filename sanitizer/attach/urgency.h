// While a thread is stopped, neither it nor the one that stopped it should wait for a processor behind
// others: on a busy machine that wait is nearly all of the pause. A right to real-time scheduling is used
// where there is one; else, from Linux 6.12 on, a short slice, which needs no right and is served sooner.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace dtype_guard::san {

// The fields of Linux's struct sched_attr, which glibc 2.36 does not declare.
struct SchedulingAttributes {
  std::uint32_t size;
  std::uint32_t policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime;
  std::uint64_t deadline;
  std::uint64_t period;
};

class Urgency {
 public:
  explicit Urgency(pid_t thread);  // 0: this one
  ~Urgency();                      // as it was
  Urgency(const Urgency&) = delete;
  Urgency& operator=(const Urgency&) = delete;

 private:
  pid_t thread_;
  bool is_raised_ = false;
  SchedulingAttributes before_ = {};
};

}  // namespace dtype_guard::san
