// What a program can notice of its own process: each mode prints it around calls that dtype-san records. The
// output must be the same with it and without.
#include <dirent.h>
#include <fenv.h>
#include <flash_ref/flash_ref.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "wrong_call.h"

extern char** environ;

namespace {

void print_floating_point() {
  unsigned control = 0;
#if defined(__x86_64__)
  asm volatile("stmxcsr %0" : "=m"(control));
#endif
  std::printf("rounding %d exceptions %d mxcsr %x\n", fegetround(), fetestexcept(FE_ALL_EXCEPT), control);
}

void print_signals() {
  sigset_t mask, pending;
  sigprocmask(SIG_SETMASK, nullptr, &mask);
  sigpending(&pending);
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action = {};
    if (sigaction(number, nullptr, &action) != 0) continue;
    std::printf("%d:%d%d%d ", number, action.sa_handler == SIG_DFL, sigismember(&mask, number),
                sigismember(&pending, number));
  }
  std::puts("");
}

void print_process() {
  char folder[4096];
  std::printf("folder %s\n", getcwd(folder, sizeof folder));
  for (int limit = 0; limit < RLIM_NLIMITS; ++limit) {
    rlimit value = {};
    getrlimit(static_cast<__rlimit_resource_t>(limit), &value);
    std::printf("limit %d %lu\n", limit, static_cast<unsigned long>(value.rlim_cur));
  }
  std::vector<int> descriptors;
  DIR* list = opendir("/proc/self/fd");
  while (const dirent* entry = readdir(list))
    if (int number = std::atoi(entry->d_name);
        entry->d_name[0] != '.' && number != dirfd(list) && number < 100)
      descriptors.push_back(number);
  closedir(list);
  std::sort(descriptors.begin(), descriptors.end());
  for (int number : descriptors) std::printf("descriptor %d\n", number);
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (std::strncmp(*variable, "LD_PRELOAD=", 11) != 0 && std::strncmp(*variable, "DTYPE_SAN", 9) != 0)
      std::puts(*variable);
}

int wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

volatile sig_atomic_t handled = 0;

void children(const char* self) {
  char* quiet[] = {const_cast<char*>(self), const_cast<char*>("quiet"), nullptr};
  call_wrongly();
  std::fflush(stdout);
  pid_t child = fork();
  if (child == 0) call_wrongly(), _exit(11);
  std::printf("fork %d\n", wait_for(child));
  child = vfork();
  if (child == 0) {
    execv(self, quiet);
    _exit(99);
  }
  std::printf("vfork and exec %d\n", wait_for(child));
  child = vfork();
  if (child == 0) _exit(12);
  std::printf("vfork and _exit %d\n", wait_for(child));
  call_wrongly(2);  // the parent's journal is still its own
  child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (child == 0) call_wrongly(3), _exit(13);
  std::printf("clone %d\n", wait_for(child));
#if __GLIBC_PREREQ(2, 34)
  child = _Fork();
  if (child == 0) call_wrongly(4), _exit(14);
  std::printf("_Fork %d\n", wait_for(child));
#endif
  posix_spawn(&child, self, nullptr, nullptr, quiet, environ);
  std::printf("posix_spawn %d\n", wait_for(child));
}

void short_threads() {
  long total = 0;
  for (int round = 0; round < 100; ++round) {
    std::vector<std::thread> running;
    for (int t = 0; t < 8; ++t) running.emplace_back([] { call_wrongly(); });
    for (std::thread& one : running) one.join(), ++total;
  }
  std::printf("threads %ld\n", total);
}

void small_stack() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 * 1024);
  pthread_t thread;
  pthread_create(
      &thread, &attributes, [](void*) -> void* { return reinterpret_cast<void*>(call_wrongly() != 0); },
      nullptr);
  void* result = nullptr;
  pthread_join(thread, &result);
  std::printf("small stack %d\n", result != nullptr);
}

void exceptions() {
  int caught = 0;
  for (int i = 0; i < 1000; ++i) {
    try {
      call_wrongly();
      if (i % 2 == 0) throw std::runtime_error("x");
      std::vector<int>().at(1);
    } catch (const std::exception&) {
      ++caught;
    }
  }
  std::printf("caught %d\n", caught);
}

void signals_during_calls() {
  struct sigaction action = {};
  action.sa_handler = [](int) {
    int before = errno;
    call_wrongly(static_cast<std::uint16_t>(2 + handled % 8));
    handled = handled + 1;
    errno = before;
  };
  sigaction(SIGUSR1, &action, nullptr);
  std::thread sender([self = pthread_self()] {
    for (int i = 0; i < 200; ++i) pthread_kill(self, SIGUSR1), usleep(50);
  });
  for (int i = 0; i < 20000; ++i) call_wrongly(static_cast<std::uint16_t>(20 + i % 50));
  sender.join();
  std::printf("handled %d\n", handled > 0);
}

void clean_calls(int count) {
  std::int64_t shape[4] = {1, 1, 1, 2}, table[2] = {1, 1};
  std::uint32_t storage[4] = {0, 0, 0, 0};
  DLTensor x = {}, t = {};
  x.data = storage;
  t.data = storage + 2;
  x.device.device_type = t.device.device_type = static_cast<decltype(x.device.device_type)>(1);
  x.ndim = 4;
  x.shape = shape;
  x.dtype = t.dtype = {4, 16, 1};
  t.ndim = 2;
  t.shape = table;
  int refused = 0;
  for (int i = 0; i < count; ++i) refused += flash_ref_rotary(&x, &t, &t, &x, nullptr) != 0;
  std::printf("refused %d of %d\n", refused, count);
}

void run(const std::string& mode, const char* self) {
  if (mode == "floating") {
    fesetround(FE_UPWARD);
    feraiseexcept(FE_INEXACT | FE_DIVBYZERO);
    print_floating_point();
    call_wrongly();
    print_floating_point();
  }
  if (mode == "signals") {
    sigset_t some;
    sigemptyset(&some);
    sigaddset(&some, SIGUSR2);
    sigprocmask(SIG_BLOCK, &some, nullptr);
    raise(SIGUSR2);
    signal(SIGXFSZ, [](int) {});
    print_signals();
    call_wrongly();
    print_signals();
  }
  if (mode == "errno") {
    errno = 42;
    call_wrongly();
    std::printf("errno %d\n", errno);
  }
  if (mode == "process") call_wrongly(), print_process();
  if (mode == "children") children(self);
  if (mode == "threads") short_threads();
  if (mode == "stack") small_stack();
  if (mode == "exceptions") exceptions();
  if (mode == "during") signals_during_calls();
  if (mode == "abort") call_wrongly(), std::abort();
  if (mode == "uncaught") call_wrongly(), throw std::runtime_error("uncaught");
  if (mode == "exit") call_wrongly(), _exit(21);
  if (mode == "Exit") call_wrongly(), std::_Exit(22);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2) {
    clean_calls(std::atoi(argv[2]));
    return 0;
  }
  run(argv[1], argv[0]);
  return 0;
}
