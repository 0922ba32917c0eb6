// One thread of another process, stopped by ptrace. It is put back as it was, registers, vector state and
// signal mask, and a system call that the stop interrupted is made again rather than failing with EINTR.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace dtype_guard::san {

// `problem` of a thread whose process a signal stopped before it could be.
inline constexpr char kStoppedBySignal[] = "a signal stopped the process";

// `problem` of a thread that is asked to stop still.
inline constexpr char kNotStopping[] = "did not stop in time (in uninterruptible sleep?)";

class StoppedThread {
 public:
  // Nothing when the thread has ended, may not be traced or does not stop in time; `problem` says which.
  static std::optional<StoppedThread> stop(pid_t process, pid_t thread, std::string& problem);

  StoppedThread(StoppedThread&& other) noexcept;
  StoppedThread& operator=(StoppedThread&&) = delete;
  ~StoppedThread();  // lets it run on

  pid_t id() const { return thread_; }

  // A stop signal came for the process meanwhile. One that was taken out of the thread's way is sent again
  // when it runs on.
  bool was_stopped() const { return stop_signal_ != StopSignal::kNone; }

  // It did not come to the end of what it was made to do.
  bool timed_out() const { return timed_out_; }

  // Why the thread is no more, as wait status; nothing while it lives.
  std::optional<int> end() const { return end_; }

  // A system call made by the thread with the instruction at `instruction` ("syscall").
  // Gives its result, -errno on failure; nothing when the thread could not be driven.
  std::optional<long> system_call(std::uint64_t instruction, long number,
                                  std::initializer_list<std::uint64_t> arguments);

  // Writes into memory that is all zeros, of the process's own too where it may not write itself.
  bool fill(std::uint64_t to, const void* from, std::size_t count);

  // An address on the thread's stack, below what it uses, that stays free while `call` runs: for kScratch
  // bytes.
  static constexpr std::uint64_t kScratch = 64;
  std::uint64_t scratch() const;

  // Calls a function of the process on the thread's own stack; `trap` is the address of a breakpoint
  // instruction to return to.
  std::optional<std::uint64_t> call(std::uint64_t function, std::uint64_t trap,
                                    std::initializer_list<std::uint64_t> arguments);

  // Blocks every signal that can wait for the time of the stop; threads made meanwhile inherit that.
  bool block_signals();

 private:
  StoppedThread(pid_t process, pid_t thread) : process_(process), thread_(thread) {}
  bool save();
  bool wait_for_trap(int resume);  // PTRACE_CONT or PTRACE_SINGLESTEP
  void restart_interrupted_call();
  void drop_own_trap();

  pid_t process_ = 0;
  pid_t thread_ = 0;
  user_regs_struct registers_ = {};
  std::vector<std::byte> vector_state_;
  std::uint64_t signals_ = 0;
  bool signals_changed_ = false;
  bool timed_out_ = false;
  enum class StopSignal : std::uint8_t { kNone, kTaken, kInForce };
  StopSignal stop_signal_ = StopSignal::kNone;
  std::vector<int> taken_;  // signals that came meanwhile and go to the process again
  std::optional<int> end_;
};

// Reads and writes the memory of a process that may be traced; false when any byte is out of reach.
bool read_process_memory(pid_t process, std::uint64_t from, void* to, std::size_t count);
bool write_process_memory(pid_t process, std::uint64_t to, const void* from, std::size_t count);

}  // namespace dtype_guard::san
