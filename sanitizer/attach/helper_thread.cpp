#include "sanitizer/attach/helper_thread.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

namespace dtype_guard::san {

#if defined(__x86_64__)

namespace {

#define IN_HELPER                                         \
  gnu::section("attach_helper"), gnu::no_stack_protector, \
      gnu::no_sanitize("address", "undefined", "thread"), \
      gnu::optimize("O1", "no-tree-loop-distribute-patterns")

[[IN_HELPER, gnu::always_inline]] inline void sleep_half_a_millisecond() {
  const long pause[2] = {0, 500'000};
  long result = SYS_nanosleep;
  asm volatile("syscall" : "+a"(result) : "D"(pause), "S"(0L) : "rcx", "r11", "memory");
}
constexpr int kRoundsPerSecond = 2000;

[[IN_HELPER, gnu::always_inline]] inline std::uint32_t own_process() {
  long result = SYS_getpid;
  asm volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
  return static_cast<std::uint32_t>(result);
}

// Nanoseconds of the processor that the helper thread has had.
[[IN_HELPER, gnu::always_inline]] inline long time_of_helper(int clock) {
  long now[2] = {0, 0};
  long result = SYS_clock_gettime;
  asm volatile("syscall" : "+a"(result) : "D"(static_cast<long>(clock)), "S"(now) : "rcx", "r11", "memory");
  return now[0] * 1'000'000'000 + now[1];
}

// As pthread_getcpuclockid makes it of a thread's number.
[[IN_HELPER, gnu::always_inline]] inline int own_clock() {
  constexpr int kOfThread = 6;
  long result = SYS_gettid;
  asm volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
  return static_cast<int>(~static_cast<unsigned>(result) << 3 | kOfThread);
}

// A handler of forks is given nothing: the mailbox lies behind the code's page.
[[IN_HELPER, gnu::always_inline]] inline Mailbox* own_mailbox() {
  std::uintptr_t here;
  asm("lea 0(%%rip), %0" : "=r"(here));
  return reinterpret_cast<Mailbox*>((here & ~(kMailboxAt - 1)) + kMailboxAt);
}

[[IN_HELPER, gnu::always_inline]] inline void hand_on(void (*const& handler)()) {
  void (*function)() = __atomic_load_n(&handler, __ATOMIC_ACQUIRE);
  if (function != nullptr) function();
}

[[IN_HELPER, gnu::used, gnu::noinline]] void before_fork() {
  Mailbox* mailbox = own_mailbox();
  constexpr int kRounds = kForkSeconds * kRoundsPerSecond,
                kRoundsAtRest = kForkSecondsAtRest * kRoundsPerSecond;
  long used = 0;
  for (int round = 0, at_rest = 0;
       round < kRounds && at_rest < kRoundsAtRest &&
       __atomic_load_n(&mailbox->is_loading, __ATOMIC_ACQUIRE) != 0 && mailbox->process == own_process();
       ++round, ++at_rest) {
    const long now = time_of_helper(mailbox->helper_clock);
    if (now != used) at_rest = 0;
    used = now;
    sleep_half_a_millisecond();
  }
  hand_on(mailbox->before_fork);
}
[[IN_HELPER, gnu::used, gnu::noinline]] void after_fork() { hand_on(own_mailbox()->after_fork); }
[[IN_HELPER, gnu::used, gnu::noinline]] void after_fork_in_child() {
  hand_on(own_mailbox()->after_fork_in_child);
}

// Forks that begin from here on wait; those that have begun hold the lock of the streams until they are done.
[[IN_HELPER, gnu::always_inline]] inline void hold_forks(Mailbox* mailbox) {
  mailbox->process = own_process();
  mailbox->helper_clock = own_clock();
  __atomic_store_n(&mailbox->is_loading, 1U, __ATOMIC_RELEASE);
  if (mailbox->register_atfork != nullptr &&
      mailbox->register_atfork(mailbox->helper_fork_handlers[0], mailbox->helper_fork_handlers[1],
                               mailbox->helper_fork_handlers[2], mailbox) == 0)
    mailbox->handles_forks = 1;
  if (mailbox->lock_streams == nullptr || mailbox->unlock_streams == nullptr) return;
  mailbox->lock_streams();
  mailbox->unlock_streams();
}

[[IN_HELPER, gnu::used, gnu::noinline]] void* load_library(Mailbox* mailbox) {
  // It was filled through the debugger's door, while code and mailbox lay in one mapping that may not be
  // written.
  long result = SYS_mprotect;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(mailbox), "S"(sizeof *mailbox), "d"(static_cast<long>(PROT_READ | PROT_WRITE))
               : "rcx", "r11", "memory");
  if (result != 0) return nullptr;
  // The borrowed thread's mask, which this one has from it, leaves out the signals of a trap.
  const unsigned long every_signal = ~0UL;
  result = SYS_rt_sigprocmask;
  asm volatile("mov $8, %%r10d\n\tsyscall"  // the size of a set
               : "+a"(result)
               : "D"(static_cast<long>(SIG_BLOCK)), "S"(&every_signal), "d"(0L)
               : "rcx", "r10", "r11", "memory");
  // By this name the library finds the mailbox, and so does an attach that comes after one that was ended.
  result = SYS_prctl;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(static_cast<long>(PR_SET_NAME)), "S"(mailbox->thread_name), "d"(0L)
               : "rcx", "r11", "memory");
  mailbox->thread_detach(mailbox->thread_self());
  // The thread that started this one is still stopped, and would wait for the processor behind it.
  constexpr int kRounds = kGoSeconds * kRoundsPerSecond;
  int round = 0;
  for (; round < kRounds && __atomic_load_n(&mailbox->go, __ATOMIC_ACQUIRE) == 0; ++round)
    sleep_half_a_millisecond();
  if (mailbox->ignores_trap != 0) {
    unsigned long action[4];  // handler, flags, restorer, mask
    action[0] = 1;            // SIG_IGN
    action[1] = action[2] = action[3] = 0;
    result = SYS_rt_sigaction;
    asm volatile("mov $8, %%r10d\n\tsyscall"
                 : "+a"(result)
                 : "D"(static_cast<long>(SIGTRAP)), "S"(action), "d"(0L)
                 : "rcx", "r10", "r11", "memory");
  }
  if (round == kRounds) {  // the tool was ended
    __atomic_store_n(&mailbox->state, static_cast<std::uint32_t>(MailboxState::kGivenUp), __ATOMIC_RELEASE);
    return nullptr;
  }
  hold_forks(mailbox);
  mailbox->handle = mailbox->open_library(mailbox->library, RTLD_NOW | RTLD_GLOBAL);
  __atomic_store_n(&mailbox->is_loading, 0U, __ATOMIC_RELEASE);
  MailboxState state = MailboxState::kLoaded;
  if (mailbox->handle == nullptr) {
    state = MailboxState::kFailed;
    const char* error = mailbox->open_error();
    for (std::size_t i = 0; error != nullptr && error[i] != '\0' && i + 1 < sizeof mailbox->error; ++i)
      mailbox->error[i] = error[i];
  }
  __atomic_store_n(&mailbox->state, static_cast<std::uint32_t>(state), __ATOMIC_RELEASE);
  return nullptr;
}

#undef IN_HELPER

}  // namespace

extern "C" {
extern const char __start_attach_helper[];
extern const char __stop_attach_helper[];
}

namespace {
template <typename Function>
std::size_t offset_of(Function* function) {
  return static_cast<std::size_t>(reinterpret_cast<const char*>(function) - __start_attach_helper);
}
}  // namespace

HelperCode helper_code() {
  return {__start_attach_helper,
          static_cast<std::size_t>(__stop_attach_helper - __start_attach_helper),
          offset_of(load_library),
          {offset_of(before_fork), offset_of(after_fork), offset_of(after_fork_in_child)}};
}

#else

HelperCode helper_code() { return {nullptr, 0, 0, {}}; }

#endif

}  // namespace dtype_guard::san
