// A job that runs until its input ends, for the tests that join it: threads that allocate, load libraries,
// fork, wait in system calls that an interruption would fail, and call flash_ref with a wrong dtype all the
// while. Prints "ready", and at the end what it has seen: "calls N refused N interrupted N". No call is made
// after that. A line of input is answered by "called" when three calls have begun and ended since.
//   long_job KINDS     m malloc, d dlopen, f fork, e epoll_wait, s nanosleep, k kernels, l kernels
//                      from the first line of input on, p kernels through an address from dlsym, c computing;
//                      E, R: the main thread, which attaching prefers, waits in epoll_wait, or in a
//                      recv with a time limit, and not in read; X: it ends, the others run on;
//                      x: the job ends by becoming /bin/true, q: by _exit
#include <dlfcn.h>
#include <errno.h>
#include <flash_ref/flash_ref.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

std::atomic<long> calls{0}, refused{0}, interrupted{0};
std::atomic<bool> is_asked{false};
std::mutex calling;  // held for a call and its count, and from the end on
std::string kinds = "k";

void allocate() {
  for (unsigned size = 1;; size = size * 7 % 5003) std::free(std::malloc(size));
}

void load() {
  for (;;) {
    if (void* library = dlopen("libm.so.6", RTLD_NOW)) dlclose(library);
  }
}

void spawn() {
  for (;;) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) interrupted += 1;
  }
}

void wait_for_events() {
  const int queue = epoll_create1(0);
  epoll_event event = {};
  for (;;) {
    if (epoll_wait(queue, &event, 1, 200) < 0 && errno == EINTR) interrupted += 1;
  }
}

void pause_shortly() {
  const timespec pause = {0, 1'000'000};
  nanosleep(&pause, nullptr);
}

bool input_ended(int wait_ms) {
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  return poll(&input, 1, wait_ms) > 0;
}

void wait_for_input_event() {
  const int queue = epoll_create1(0);
  epoll_event event = {};
  event.events = EPOLLIN;
  epoll_ctl(queue, EPOLL_CTL_ADD, STDIN_FILENO, &event);
  while (epoll_wait(queue, &event, 1, -1) < 1) interrupted += errno == EINTR ? 1 : 0;
}

void receive_until_input_ends() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) std::exit(2);
  const timeval limit = {0, 200'000};
  setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  char byte = 0;
  while (!input_ended(0))
    if (recv(ends[0], &byte, 1, 0) < 0 && errno == EINTR) interrupted += 1;
}

void sleep_on() {
  for (;;) {
    const timespec pause = {0, 1'000'000};
    if (nanosleep(&pause, nullptr) != 0 && errno == EINTR) interrupted += 1;
  }
}

void compute() {
  for (volatile double value = 1;;) value = value * 1.0000001;
}

// `by`: an address that was taken before, else as the linker binds the call.
void rotate_by(decltype(&flash_ref_rotary) by) {
  std::vector<std::uint64_t> data(256);
  std::int64_t x_shape[] = {1, 4, 2, 8}, table_shape[] = {4, 4};
  DLTensor x = {};
  x.data = data.data();
  x.device.device_type = kDLCPU;
  x.ndim = 4;
  x.shape = x_shape;
  x.dtype = {kDLFloat, 32, 1};
  DLTensor table = x;
  table.ndim = 2;
  table.shape = table_shape;
  table.dtype = {kDLBfloat, 16, 1};
  for (;;) {
    std::unique_lock<std::mutex> turn(calling);
    const int status = by != nullptr ? by(&x, &table, &table, &x, nullptr)
                                     : flash_ref_rotary(&x, &table, &table, &x, nullptr);  // call: rotate
    calls += 1;
    if (status != 0) refused += 1;
    turn.unlock();
    pause_shortly();
  }
}

void rotate() { rotate_by(nullptr); }

void start(char kind) {
  switch (kind) {
    case 'm':
      std::thread(allocate).detach();
      break;
    case 'd':
      std::thread(load).detach();
      break;
    case 'f':
      std::thread(spawn).detach();
      break;
    case 'e':
      std::thread(wait_for_events).detach();
      break;
    case 'E':
    case 'R':
    case 'X':
    case 'x':
    case 'q':
      break;
    case 's':
      std::thread(sleep_on).detach();
      break;
    case 'c':
      std::thread(compute).detach();
      break;
    case 'k':
      std::thread(rotate).detach();
      break;
    case 'l':
      std::thread([] {
        while (!is_asked) pause_shortly();
        rotate();
      }).detach();
      break;
    case 'p':
      std::thread([address = dlsym(RTLD_DEFAULT, "flash_ref_rotary")] {
        rotate_by(reinterpret_cast<decltype(&flash_ref_rotary)>(address));
      }).detach();
      break;
    default:
      std::exit(2);
  }
}

[[noreturn]] void wait_for_end() {
  char byte = 0;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
    is_asked = true;
    constexpr long kWanted = 3, kMayHaveBegun = 1;
    for (const long before = calls; calls < before + kWanted + kMayHaveBegun;) pause_shortly();
    std::puts("called");
    std::fflush(stdout);
  }
  calling.lock();
  std::printf("calls %ld refused %ld interrupted %ld\n", calls.load(), refused.load(), interrupted.load());
  std::fflush(stdout);
  if (kinds.find('x') != kinds.npos) execl("/bin/true", "true", nullptr);
  if (kinds.find('q') != kinds.npos) _exit(0);
  std::exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) kinds = argv[1];
  for (const char kind : kinds) start(kind);
  for (const bool calls_on = kinds.find_first_of("kp") != kinds.npos; calls_on && calls == 0;)
    pause_shortly();
  std::puts("ready");
  std::fflush(stdout);
  if (kinds.find('E') != kinds.npos) wait_for_input_event();
  if (kinds.find('R') != kinds.npos) receive_until_input_ends();
  if (kinds.find('X') != kinds.npos) {
    std::thread(wait_for_end).detach();
    pthread_exit(nullptr);
  }
  wait_for_end();
}
