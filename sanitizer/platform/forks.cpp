#include "sanitizer/platform/forks.h"

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "sanitizer/platform/system.h"

namespace dtype_guard::san {
namespace {

// Holders in the low half, forks in the high one. Only the first of several holders waits for forks: a fork
// cannot have passed beside it.
constexpr std::uint32_t kHolder = 1, kFork = 1U << 16, kHolders = kFork - 1;
constinit std::atomic<std::uint32_t> state{0};
constinit std::atomic<std::uintptr_t> forking_thread{0};
constinit std::atomic<void (*)()> child_function{nullptr};
constinit std::atomic<const ForkLock*> fork_lock{nullptr};
constinit std::atomic<std::uintptr_t> lock_holder{0};

std::uintptr_t this_thread() { return reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer()); }

void before_fork() {
  state.fetch_add(kFork, std::memory_order_acq_rel);
  for (Patience patience(kForkPatience);
       (state.load(std::memory_order_acquire) & kHolders) != 0 && patience.wait();) {
  }
  forking_thread.store(this_thread(), std::memory_order_relaxed);
  if (const ForkLock* lock = fork_lock.load(std::memory_order_acquire); lock != nullptr && lock->lock())
    lock_holder.store(this_thread(), std::memory_order_relaxed);
}

// In the parent and in the child.
void let_go_of_lock() {
  if (lock_holder.load(std::memory_order_relaxed) != this_thread()) return;
  lock_holder.store(0, std::memory_order_relaxed);
  fork_lock.load(std::memory_order_acquire)->unlock();
}

void after_fork() {
  let_go_of_lock();
  std::uintptr_t own = this_thread();
  forking_thread.compare_exchange_strong(own, 0, std::memory_order_relaxed);
  std::uint32_t seen = state.load(std::memory_order_relaxed);
  while (seen >= kFork && !state.compare_exchange_weak(seen, seen - kFork, std::memory_order_release)) {
  }
}

void after_fork_in_child() {
  let_go_of_lock();
  forking_thread.store(0, std::memory_order_relaxed);
  state.store(0, std::memory_order_relaxed);
  if (auto* function = child_function.load(std::memory_order_acquire)) function();
}

}  // namespace

ForkHandlers fork_handlers() { return {before_fork, after_fork, after_fork_in_child}; }

void register_fork_handlers() { (void)pthread_atfork(before_fork, after_fork, after_fork_in_child); }

void call_in_child(void (*function)()) { child_function.store(function, std::memory_order_release); }

void hold_over_forks(const ForkLock& lock) { fork_lock.store(&lock, std::memory_order_release); }

ForksHeld::ForksHeld() {
  Patience patience(kForkPatience);
  bool waits = true;
  for (std::uint32_t seen = state.load(std::memory_order_relaxed);;) {
    if (waits && seen >= kFork && (seen & kHolders) == 0 &&
        forking_thread.load(std::memory_order_relaxed) != this_thread()) {
      waits = patience.wait();
      seen = state.load(std::memory_order_relaxed);
    } else if (state.compare_exchange_weak(seen, seen + kHolder, std::memory_order_acquire)) {
      return;
    }
  }
}

// In the child of a fork that did not wait, nothing is held any more.
ForksHeld::~ForksHeld() {
  std::uint32_t seen = state.load(std::memory_order_relaxed);
  while ((seen & kHolders) != 0 &&
         !state.compare_exchange_weak(seen, seen - kHolder, std::memory_order_release)) {
  }
}

}  // namespace dtype_guard::san
