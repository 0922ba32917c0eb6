#include "sanitizer/attach/stopped_thread.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace dtype_guard::san {
namespace {

constexpr std::uint64_t bit_of(int signal) { return std::uint64_t{1} << (signal - 1); }
// A breakpoint or a filtered system call whose signal is blocked makes the kernel forget the program's
// handler.
constexpr std::uint64_t kHeldSignals = ~(bit_of(SIGTRAP) | bit_of(SIGSYS));
constexpr std::size_t kSignalSetSize = sizeof(std::uint64_t);
constexpr int kPtraceGetSigmask = 0x420a;  // Linux 3.11
constexpr int kPtraceSetSigmask = 0x420b;
constexpr std::size_t kLargestVectorState = 16384;

using Clock = std::chrono::steady_clock;
// It runs on until it stops, so this costs it nothing: a thread that is not given a processor stops late.
constexpr auto kStopTime = std::chrono::seconds(10);
constexpr auto kCallTime = std::chrono::seconds(5);

long trace(int request, pid_t thread, std::uint64_t address, void* data) {
  return ptrace(static_cast<__ptrace_request>(request), thread, reinterpret_cast<void*>(address), data);
}

// SIGCHLD, which every stop sends, kept for sigtimedwait: to sleep between looks would cost a turn on a busy
// processor each time.
sigset_t stop_signal() {
  static const sigset_t set = [] {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    signal(SIGCHLD, SIG_DFL);  // one that is ignored is not sent
    pthread_sigmask(SIG_BLOCK, &child, nullptr);
    return child;
  }();
  return set;
}

// The status of the thread's next stop; nothing when it ended, which `end_status` tells then, or the time was
// up.
std::optional<int> next_stop(pid_t thread, Clock::duration time, std::optional<int>& end_status) {
  constexpr timespec kLook = {0, 20'000'000};  // should a signal have been lost
  const sigset_t signals = stop_signal();
  const auto end = Clock::now() + time;
  do {
    int status = 0;
    const pid_t changed = waitpid(thread, &status, __WALL | WNOHANG);
    if (changed == thread && WIFSTOPPED(status)) return status;
    if (changed == thread) end_status = status;
    if (changed == thread) return std::nullopt;
    if (changed < 0 && errno != EINTR) return std::nullopt;
    (void)sigtimedwait(&signals, nullptr, &kLook);
  } while (Clock::now() < end);
  return std::nullopt;
}

bool is_interrupt_stop(int status) {
  return (status >> 16) == PTRACE_EVENT_STOP && WSTOPSIG(status) == SIGTRAP;
}

// The signal of this stop came from a process, not from what the thread does.
bool was_sent(pid_t thread) {
  siginfo_t signal = {};
  return trace(PTRACE_GETSIGINFO, thread, 0, &signal) == 0 && signal.si_code <= 0;
}

// The whole process is being stopped, by a signal that one of its threads got.
bool is_group_stop(int status) { return (status >> 16) == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP; }

}  // namespace

#if defined(__x86_64__)

std::optional<StoppedThread> StoppedThread::stop(pid_t process, pid_t thread, std::string& problem) {
  (void)stop_signal();
  if (trace(PTRACE_SEIZE, thread, 0, nullptr) != 0) {
    problem = errno == ESRCH ? "the thread has ended" : strerror(errno);
    return std::nullopt;
  }
  StoppedThread stopped(process, thread);
  trace(PTRACE_INTERRUPT, thread, 0, nullptr);
  const auto end = Clock::now() + kStopTime;
  for (auto status = next_stop(thread, kStopTime, stopped.end_); status;
       status = next_stop(thread, end - Clock::now(), stopped.end_)) {
    if (is_group_stop(*status)) {  // stays in force
      problem = kStoppedBySignal;
      trace(PTRACE_DETACH, thread, 0, nullptr);
      stopped.thread_ = 0;
      return std::nullopt;
    }
    if (is_interrupt_stop(*status)) {
      if (stopped.save()) return stopped;
      problem = "its registers cannot be read";
      trace(PTRACE_DETACH, thread, 0, nullptr);
      stopped.thread_ = 0;
      return std::nullopt;
    }
    // A signal was on its way: the thread gets it, then stops.
    const int signal = (*status >> 16) != 0 ? 0 : WSTOPSIG(*status);
    trace(PTRACE_CONT, thread, 0, reinterpret_cast<void*>(static_cast<std::uintptr_t>(signal)));
  }
  problem = stopped.end_ ? "the thread has ended" : kNotStopping;
  trace(PTRACE_DETACH, thread, 0, nullptr);
  stopped.thread_ = 0;
  return std::nullopt;
}

StoppedThread::StoppedThread(StoppedThread&& other) noexcept
    : process_(other.process_),
      thread_(std::exchange(other.thread_, 0)),
      registers_(other.registers_),
      vector_state_(std::move(other.vector_state_)),
      signals_(other.signals_),
      signals_changed_(other.signals_changed_),
      timed_out_(other.timed_out_),
      stop_signal_(other.stop_signal_),
      taken_(std::move(other.taken_)),
      end_(other.end_) {}

StoppedThread::~StoppedThread() {
  if (thread_ == 0) return;
  restart_interrupted_call();
  iovec vector = {vector_state_.data(), vector_state_.size()};
  if (!vector_state_.empty()) trace(PTRACE_SETREGSET, thread_, NT_X86_XSTATE, &vector);
  trace(PTRACE_SETREGS, thread_, 0, &registers_);
  drop_own_trap();
  if (signals_changed_) trace(kPtraceSetSigmask, thread_, kSignalSetSize, &signals_);
  trace(PTRACE_DETACH, thread_, 0, nullptr);
  for (const int signal : taken_) kill(process_, signal);
  if (stop_signal_ == StopSignal::kTaken) kill(process_, SIGSTOP);
}

// A step that ended in another signal, of a filtered system call say, leaves its trap behind, which would end
// the program. It is taken before the thread comes to its next instruction.
void StoppedThread::drop_own_trap() {
  constexpr int kMostPending = 16;
  siginfo_t pending[kMostPending];
  __ptrace_peeksiginfo_args all = {0, 0, kMostPending};
  const long count = ptrace(PTRACE_PEEKSIGINFO, thread_, &all, pending);
  const auto is_own = [](const siginfo_t& one) { return one.si_signo == SIGTRAP && one.si_code > 0; };
  if (count <= 0 || std::none_of(pending, pending + count, is_own)) return;
  trace(PTRACE_CONT, thread_, 0, nullptr);
  (void)wait_for_trap(PTRACE_CONT);
}

bool StoppedThread::save() {
  if (trace(PTRACE_GETREGS, thread_, 0, &registers_) != 0) return false;
  vector_state_.resize(kLargestVectorState);
  iovec vector = {vector_state_.data(), vector_state_.size()};
  if (trace(PTRACE_GETREGSET, thread_, NT_X86_XSTATE, &vector) != 0) return false;
  vector_state_.resize(vector.iov_len);
  return trace(kPtraceGetSigmask, thread_, kSignalSetSize, &signals_) == 0;
}

// The kernel would do this itself, but only for calls that it restarts after a handler-less signal;
// epoll_wait, timed receives and others would give EINTR, which the program did not ask for.
void StoppedThread::restart_interrupted_call() {
  constexpr long kInterrupted = -EINTR, kRestartFirst = -514, kRestartLast = -512, kRestartBlock = -516;
  const auto result = static_cast<long>(registers_.rax);
  if (static_cast<long>(registers_.orig_rax) < 0) return;
  const bool again = result == kInterrupted || (result >= kRestartFirst && result <= kRestartLast);
  if (!again && result != kRestartBlock) return;
  registers_.rax = again ? registers_.orig_rax : static_cast<std::uint64_t>(SYS_restart_syscall);
  registers_.rip -= 2;  // the length of "syscall"
  registers_.orig_rax = static_cast<std::uint64_t>(-1);
}

bool StoppedThread::block_signals() {
  std::uint64_t held = kHeldSignals;
  signals_changed_ = trace(kPtraceSetSigmask, thread_, kSignalSetSize, &held) == 0;
  return signals_changed_;
}

bool StoppedThread::wait_for_trap(int resume) {
  const auto end = Clock::now() + kCallTime;
  for (auto status = next_stop(thread_, kCallTime, end_); status;
       status = next_stop(thread_, end - Clock::now(), end_)) {
    const bool is_signal = (*status >> 16) == 0;
    if (is_signal && WSTOPSIG(*status) == SIGSTOP)
      stop_signal_ = StopSignal::kTaken;  // the one that cannot be blocked
    else if (is_signal && was_sent(thread_))
      taken_.push_back(WSTOPSIG(*status));
    else if (is_signal && WSTOPSIG(*status) == SIGTRAP)
      return true;
    else if (is_signal)
      return false;  // a fault inside the call: the caller gives up, the signal is dropped
    else if (is_group_stop(*status) && !was_stopped())
      stop_signal_ = StopSignal::kInForce;
    trace(resume, thread_, 0, nullptr);
  }
  if (end_) return false;
  timed_out_ = true;
  // Not back in time: stop it where it is, so that it can be put back.
  trace(PTRACE_INTERRUPT, thread_, 0, nullptr);
  (void)next_stop(thread_, kStopTime, end_);
  return false;
}

std::optional<long> StoppedThread::system_call(std::uint64_t instruction, long number,
                                               std::initializer_list<std::uint64_t> arguments) {
  user_regs_struct registers = registers_;
  unsigned long long* const places[] = {&registers.rdi, &registers.rsi, &registers.rdx,
                                        &registers.r10, &registers.r8,  &registers.r9};
  std::size_t place = 0;
  for (const std::uint64_t argument : arguments) *places[place++] = argument;
  registers.rip = instruction;
  registers.rax = static_cast<std::uint64_t>(number);
  registers.orig_rax = static_cast<std::uint64_t>(-1);
  if (trace(PTRACE_SETREGS, thread_, 0, &registers) != 0) return std::nullopt;
  if (trace(PTRACE_SINGLESTEP, thread_, 0, nullptr) != 0 || !wait_for_trap(PTRACE_SINGLESTEP))
    return std::nullopt;
  if (trace(PTRACE_GETREGS, thread_, 0, &registers) != 0) return std::nullopt;
  return static_cast<long>(registers.rax);
}

bool StoppedThread::fill(std::uint64_t to, const void* from, std::size_t count) {
  // At once, where the kernel lets a tracer: the shorter this is, the less can come between.
  const std::string memory = "/proc/" + std::to_string(thread_) + "/mem";
  if (const int file = open(memory.c_str(), O_WRONLY | O_CLOEXEC); file >= 0) {
    const bool is_written = pwrite(file, from, count, static_cast<off_t>(to)) == static_cast<ssize_t>(count);
    close(file);
    if (is_written) return true;
  }
  for (std::size_t at = 0; at < count; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    memcpy(&word, static_cast<const std::byte*>(from) + at, std::min(count - at, sizeof word));
    if (word != 0 && trace(PTRACE_POKEDATA, thread_, to + at, reinterpret_cast<void*>(word)) != 0)
      return false;
  }
  return true;
}

std::uint64_t StoppedThread::scratch() const {
  constexpr std::uint64_t kRedZone = 128;
  return ((registers_.rsp - kRedZone) & ~std::uint64_t{63}) - kScratch;
}

std::optional<std::uint64_t> StoppedThread::call(std::uint64_t function, std::uint64_t trap,
                                                 std::initializer_list<std::uint64_t> arguments) {
  constexpr std::uint64_t kDirectionFlag = 0x400;
  user_regs_struct registers = registers_;
  unsigned long long* const places[] = {&registers.rdi, &registers.rsi, &registers.rdx,
                                        &registers.rcx, &registers.r8,  &registers.r9};
  std::size_t place = 0;
  for (const std::uint64_t argument : arguments) *places[place++] = argument;
  registers.rsp = scratch() - sizeof trap;
  if (!write_process_memory(process_, registers.rsp, &trap, sizeof trap)) return std::nullopt;
  registers.rip = function;
  registers.rax = 0;
  registers.orig_rax = static_cast<std::uint64_t>(-1);
  registers.eflags &= ~kDirectionFlag;
  if (trace(PTRACE_SETREGS, thread_, 0, &registers) != 0) return std::nullopt;
  if (trace(PTRACE_CONT, thread_, 0, nullptr) != 0 || !wait_for_trap(PTRACE_CONT)) return std::nullopt;
  if (trace(PTRACE_GETREGS, thread_, 0, &registers) != 0) return std::nullopt;
  if (registers.rip != trap + 1) return std::nullopt;
  return registers.rax;
}

#else

std::optional<StoppedThread> StoppedThread::stop(pid_t, pid_t, std::string& problem) {
  problem = "attaching is written for x86-64 only; start the job with start=dormant instead";
  return std::nullopt;
}
StoppedThread::StoppedThread(StoppedThread&& other) noexcept : thread_(std::exchange(other.thread_, 0)) {}
StoppedThread::~StoppedThread() = default;
bool StoppedThread::save() { return false; }
bool StoppedThread::wait_for_trap(int) { return false; }
void StoppedThread::restart_interrupted_call() {}
void StoppedThread::drop_own_trap() {}
bool StoppedThread::block_signals() { return false; }
bool StoppedThread::fill(std::uint64_t, const void*, std::size_t) { return false; }
std::uint64_t StoppedThread::scratch() const { return 0; }
std::optional<long> StoppedThread::system_call(std::uint64_t, long, std::initializer_list<std::uint64_t>) {
  return std::nullopt;
}
std::optional<std::uint64_t> StoppedThread::call(std::uint64_t, std::uint64_t,
                                                 std::initializer_list<std::uint64_t>) {
  return std::nullopt;
}

#endif

bool read_process_memory(pid_t process, std::uint64_t from, void* to, std::size_t count) {
  iovec local = {to, count};
  iovec remote = {reinterpret_cast<void*>(from), count};
  return process_vm_readv(process, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(count);
}

bool write_process_memory(pid_t process, std::uint64_t to, const void* from, std::size_t count) {
  iovec local = {const_cast<void*>(from), count};
  iovec remote = {reinterpret_cast<void*>(to), count};
  return process_vm_writev(process, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(count);
}

}  // namespace dtype_guard::san
