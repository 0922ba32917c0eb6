#include "sanitizer/sources/torch/callback_lock.h"

#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "sanitizer/platform/forks.h"
#include "sanitizer/platform/loaded_object.h"
#include "sanitizer/platform/rebind.h"

namespace dtype_guard::san::torch {
namespace {

constexpr char kLock[] = "pthread_mutex_lock";

// Functions of the process's libc, or of what stands before it there. This library needs none of them itself:
// before glibc 2.34 some are libpthread's.
using LockMutex = int (*)(void* mutex);
using LockMutexUntil = int (*)(void* mutex, const timespec* end);
template <typename Function>
Function function_of(const char* name) {
  return reinterpret_cast<Function>(find_original(name));
}

struct Found {
  void* mutex = nullptr;
  bool has_others = false;
  LockMutexUntil lock_until = nullptr;
  LockMutex unlock = nullptr;
};
constinit Found found;
constinit std::atomic<std::uintptr_t> asking_thread{0};
constinit std::atomic<LockMutex> real_lock{nullptr};

std::uintptr_t this_thread() { return reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer()); }

// What libtorch calls meanwhile, on all of its threads.
int note_lock(void* mutex) {
  if (asking_thread.load(std::memory_order_relaxed) == this_thread()) {
    found.has_others = found.has_others || (found.mutex != nullptr && found.mutex != mutex);
    found.mutex = mutex;
  }
  return real_lock.load(std::memory_order_relaxed)(mutex);
}

// The words through which an object calls pthread_mutex_lock lead to note_lock while this lives.
class LocksLedHere {
 public:
  explicit LocksLedHere(const LoadedObject& object) : object_(object) {
    object.each_binding([&](const Binding& binding) {
      if ((!binding.is_call && !binding.is_table) || strcmp(binding.symbol, kLock) != 0) return;
      if (count_ == kMostWords) return;
      words_[count_++] = {binding.place, *binding.place};
      (void)rebind(object, binding.place, reinterpret_cast<std::uintptr_t>(&note_lock));
    });
  }
  ~LocksLedHere() {
    for (std::size_t i = 0; i < count_; ++i) (void)rebind(object_, words_[i].place, words_[i].before);
  }
  LocksLedHere(const LocksLedHere&) = delete;
  LocksLedHere& operator=(const LocksLedHere&) = delete;

 private:
  static constexpr std::size_t kMostWords = 4;
  struct Word {
    std::uintptr_t* place;
    std::uintptr_t before;
  };
  const LoadedObject& object_;
  Word words_[kMostWords];
  std::size_t count_ = 0;
};

bool lock() {
  timespec end = {};
  (void)syscall(SYS_clock_gettime, CLOCK_REALTIME, &end);
  end.tv_sec += kForkPatience;
  return found.lock_until(found.mutex, &end) == 0;
}
void unlock() { (void)found.unlock(found.mutex); }
constinit const ForkLock fork_lock = {lock, unlock};

}  // namespace

void find_callback_lock(const Library& library) {
  found.lock_until = function_of<LockMutexUntil>("pthread_mutex_timedlock");
  found.unlock = function_of<LockMutex>("pthread_mutex_unlock");
  real_lock.store(function_of<LockMutex>(kLock), std::memory_order_relaxed);
  LoadedObject object;
  if (found.lock_until == nullptr || found.unlock == nullptr || real_lock.load() == nullptr ||
      !find_object(kAddGlobalCallback, object))
    return;
  std::uint64_t handle = 0;
  {
    const LocksLedHere led(object);
    asking_thread.store(this_thread(), std::memory_order_relaxed);
    handle = library.add_callback(Callback{});
    asking_thread.store(0, std::memory_order_relaxed);
  }
  library.remove_callback(handle);
  if (found.mutex != nullptr && !found.has_others) hold_over_forks(fork_lock);
}

bool is_callback_lock_unknown() { return found.has_others; }

}  // namespace dtype_guard::san::torch
