#include "sanitizer/platform/own_descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sanitizer/platform/system.h"

namespace dtype_guard::san {
namespace {

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

struct Task {
  DescriptorWork work;
  void* context;
  long result;
};

// The copies of the program's descriptors: they would keep its files open, and leave no room.
void empty_table() {
  if (syscall(SYS_close_range, 0U, ~0U, 0U) == 0) return;
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  for (rlim_t i = 0; i < limit.rlim_cur && i < 65536; ++i) close_file(static_cast<int>(i));
}

int run_task(void* context) {
  auto* task = static_cast<Task*>(context);
  empty_table();
  task->result = task->work(task->context);
  return 0;
}

}  // namespace

int move_up(int descriptor) {
  const int high = fcntl(descriptor, F_DUPFD_CLOEXEC, kFirstOwnDescriptor);
  close_file(descriptor);
  return high;
}

bool may_hold_descriptors() {
  rlimit limit = {};
  return getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > kFirstOwnDescriptor;
}

long on_descriptor_thread(DescriptorThread& thread, DescriptorWork work, void* context) {
  for (Patience patience; thread.taken.exchange(1, std::memory_order_acquire) != 0;)
    if (!patience.wait()) return -EMFILE;
  Task task = {work, context, -EMFILE};
  // A thread of the process without CLONE_FILES. It has the thread pointer of this one, which waits for it,
  // and like this one it takes no signal.
  constexpr int kFlags = CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                         CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
  auto* id = reinterpret_cast<int*>(&thread.id);
  if (clone(run_task, thread.stack + DescriptorThread::kStack, kFlags, &task, id, nullptr, id) > 0) {
    for (int seen; (seen = thread.id.load(std::memory_order_acquire)) != 0;)
      (void)syscall(SYS_futex, id, FUTEX_WAIT, seen, nullptr, nullptr, 0);
  }
  thread.taken.store(0, std::memory_order_release);
  return task.result;
}

}  // namespace dtype_guard::san
