// What lies around a program: each mode prints it before and after calls that dtype-san records. The output
// must be the same with it and without.
#include <dlfcn.h>
#include <errno.h>
#include <flash_ref/flash_ref.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "wrong_call.h"

extern char** environ;

namespace {

void print_core_settings() {
  rlimit limit = {};
  getrlimit(RLIMIT_CORE, &limit);
  std::string filter;
  std::ifstream("/proc/self/coredump_filter") >> filter;
  std::printf("core limit %ld %ld dumpable %d filter %s\n", static_cast<long>(limit.rlim_cur),
              static_cast<long>(limit.rlim_max), prctl(PR_GET_DUMPABLE), filter.c_str());
}

void print_limits() {
  for (int limit = 0; limit < RLIM_NLIMITS; ++limit) {
    rlimit value = {};
    getrlimit(static_cast<__rlimit_resource_t>(limit), &value);
    std::printf("limit %d %lx %lx\n", limit, static_cast<unsigned long>(value.rlim_cur),
                static_cast<unsigned long>(value.rlim_max));
  }
}

// How many keys for thread-specific data the program gets until there are no more.
void count_keys() {
  int count = 0;
  pthread_key_t key;
  while (pthread_key_create(&key, nullptr) == 0) ++count;
  std::printf("keys %d, call answered %d\n", count, call_wrongly() != 0);
}

// Handlers, masks, alternate stack and timers, byte by byte.
void print_handlers() {
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action = {};
    if (sigaction(number, nullptr, &action) != 0) continue;
    std::printf("%d:%d:%x:", number, action.sa_handler != SIG_DFL, static_cast<unsigned>(action.sa_flags));
    for (int other = 1; other < NSIG; ++other) std::printf("%d", sigismember(&action.sa_mask, other) == 1);
    std::puts("");
  }
  stack_t alternate = {};
  sigaltstack(nullptr, &alternate);
  itimerval timer = {};
  getitimer(ITIMER_REAL, &timer);
  std::printf("alternate stack %zu flags %d timer %ld\n", alternate.ss_size, alternate.ss_flags,
              static_cast<long>(timer.it_interval.tv_sec));
}

void handlers() {
  static char alternate[64 * 1024];
  stack_t stack = {};
  stack.ss_sp = alternate;
  stack.ss_size = sizeof alternate;
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_handler = [](int) { call_wrongly(7); };
  action.sa_flags = SA_ONSTACK | SA_RESTART;
  sigaddset(&action.sa_mask, SIGUSR2);
  sigaction(SIGUSR1, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
  print_handlers();
  call_wrongly();
  raise(SIGUSR1);
  print_handlers();
}

// A kernel library that is opened, called and closed again and again is really gone in between.
void closing(const char* library) {
  for (int round = 0; round < 30; ++round) {
    void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return (void)std::puts(dlerror());
    auto rotary = reinterpret_cast<Rotary>(dlsym(handle, "flash_ref_rotary"));
    int status = call_wrongly(static_cast<std::uint16_t>(2 + round % 2), rotary);
    dlclose(handle);
    void* left = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
    if (round < 2) std::printf("status %d, still loaded %d\n", status, left != nullptr);
    if (left != nullptr) dlclose(left);
  }
}

void environment() {
  char** before = environ;
  const char* home = getenv("HOME");
  call_wrongly();
  std::printf("same list %d, same value %d\n", before == environ, home == getenv("HOME"));
  setenv("ADDED", "by the program", 1);
  unsetenv("HOME");
  call_wrongly(2);
  std::printf("%s %d\n", getenv("ADDED"), getenv("HOME") == nullptr);
  clearenv();
  call_wrongly(3);
  std::printf("empty %d\n", environ == nullptr || *environ == nullptr);
}

void print_units() {
  unsigned short control = 0;
  unsigned status = 0;
#if defined(__x86_64__)
  asm volatile("fnstcw %0" : "=m"(control));
  asm volatile("stmxcsr %0" : "=m"(status));
#endif
  std::printf("x87 control %x mxcsr %x\n", control, status);
}

void units() {
#if defined(__x86_64__)
  unsigned short control = 0x0f7f - 0x0c00 + 0x0400;  // rounds down, double precision
  unsigned status = 0x9fc0;                           // flushes to zero, denormals are zero, all masked
  asm volatile("fldcw %0" ::"m"(control));
  asm volatile("ldmxcsr %0" ::"m"(status));
#endif
  print_units();
  call_wrongly();
  print_units();
}

// From now on every write to a descriptor from 100 on fails as beyond a quota.
bool refuse_high_writes(int error) {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 100, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (static_cast<unsigned>(error) & SECCOMP_RET_DATA)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program = {sizeof rules / sizeof rules[0], rules};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

void refused_writes(int error) {
  for (std::uint16_t kind = 2; kind < 22; ++kind) call_wrongly(kind);
  if (!refuse_high_writes(error)) return (void)std::puts("no filter");
  int status = 0;
  for (std::uint16_t kind = 22; kind < 62; ++kind) status += call_wrongly(kind) != 0;
  std::printf("answered %d\n", status);
}

// The first call of the process, on a stack that it suffices for without us.
void small_stack(std::size_t size) {
  static ucontext_t back, small;
  void* const memory = mmap(nullptr, size + 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char* const stack = static_cast<char*>(memory) + 4096;
  if (memory == MAP_FAILED || mprotect(stack, size, PROT_READ | PROT_WRITE) != 0) return;
  getcontext(&small);
  small.uc_stack.ss_sp = stack;
  small.uc_stack.ss_size = size;
  small.uc_link = &back;
  makecontext(
      &small, [] { call_wrongly(); }, 0);
  swapcontext(&back, &small);
  std::puts("came back");
}

void run(const std::string& mode, const char* more) {
  if (mode == "core") {
    print_core_settings();
    call_wrongly();
    print_core_settings();
    std::fflush(stdout);
    std::abort();
  }
  if (mode == "limits") print_limits(), call_wrongly(), print_limits();
  if (mode == "keys") count_keys();
  if (mode == "handlers") handlers();
  if (mode == "closing") closing(more);
  if (mode == "environment") environment();
  if (mode == "units") units();
  if (mode == "small stack") small_stack(8192);
  if (mode == "quota") refused_writes(EDQUOT);
  if (mode == "broken disk") refused_writes(EIO);
}

}  // namespace

int main(int argc, char** argv) {
  run(argv[1], argc > 2 ? argv[2] : "");
  return 0;
}
