// Forks of the job, beside which threads of ours run. glibc sets the loader's locks anew in a forked child,
// but for one: that of dl_iterate_phdr. A child forked while some thread holds it hangs when it loads a
// library. So a fork waits until no thread of ours holds that lock, and such a thread waits for a fork. A
// child made by _Fork, or by a bare system call, is not protected.
#pragma once

namespace dtype_guard::san {

// What is called around each fork: by glibc, or in a process that was joined by what attach has put there
// (protocol/mailbox.h), which knows of forks before this library is loaded.
struct ForkHandlers {
  void (*before)();
  void (*after)();
  void (*in_child)();
};
ForkHandlers fork_handlers();
void register_fork_handlers();

// In each forked child, after what is done there anyway. One function.
void call_in_child(void (*function)());

// A lock of the program's that threads take at moments which are not ours to choose. A child that is forked
// meanwhile would find it held for ever; so the thread that forks holds it over the fork. `lock` gives up by
// itself, with false.
struct ForkLock {
  bool (*lock)() = nullptr;
  void (*unlock)() = nullptr;
};
void hold_over_forks(const ForkLock& lock);  // a constant; one

// How long a fork waits for what would harm its child.
inline constexpr int kForkPatience = 5;  // seconds

// No other thread forks while one of these exists; on a thread that has one already, or forks, it is free. A
// wait is given up after some seconds: then all is as it would be without.
class ForksHeld {
 public:
  ForksHeld();
  ~ForksHeld();
  ForksHeld(const ForksHeld&) = delete;
  ForksHeld& operator=(const ForksHeld&) = delete;
};

}  // namespace dtype_guard::san
