#include "sanitizer/attach/urgency.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace dtype_guard::san {
namespace {

constexpr std::uint64_t kResetOnFork = 1;  // SCHED_FLAG_RESET_ON_FORK: the helper thread is an ordinary one
constexpr std::uint64_t kShortest = 100'000;        // nanoseconds; the kernel takes no shorter slice
static_assert(sizeof(SchedulingAttributes) == 48);  // SCHED_ATTR_SIZE_VER0

bool read(pid_t thread, SchedulingAttributes& attributes) {
  return syscall(SYS_sched_getattr, thread, &attributes, sizeof attributes, 0) == 0;
}

bool write(pid_t thread, SchedulingAttributes attributes) {
  attributes.size = sizeof attributes;
  return syscall(SYS_sched_setattr, thread, &attributes, 0) == 0;
}

// What a thread has that never asked for a slice. Setting zero means it, whatever it will be.
std::uint64_t usual_slice() {
  static const std::uint64_t slice = [] {
    SchedulingAttributes own = {};
    return read(0, own) ? own.runtime : 0;
  }();
  return slice;
}

}  // namespace

Urgency::Urgency(pid_t thread) : thread_(thread) {
  const std::uint64_t usual = usual_slice();
  if (!read(thread, before_)) return;
  const bool is_fair = before_.policy == SCHED_OTHER || before_.policy == SCHED_BATCH;
  if (!is_fair && before_.policy != SCHED_IDLE) return;  // urgent already
  if (before_.runtime == usual) before_.runtime = 0;
  SchedulingAttributes first = {};
  first.policy = SCHED_FIFO;
  first.priority = 1;
  first.flags = before_.flags | kResetOnFork;
  is_raised_ = write(thread, first);
  if (is_raised_ || !is_fair) return;
  SchedulingAttributes short_slice = before_;
  short_slice.runtime = kShortest;
  is_raised_ = write(thread, short_slice);
}

Urgency::~Urgency() {
  if (is_raised_) write(thread_, before_);
}

}  // namespace dtype_guard::san
