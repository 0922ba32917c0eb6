// The few pages that `dtype-san attach` maps into a running process: what the helper thread there is to load,
// and what came of it. The tool writes it before the thread starts and reads it afterwards; the library,
// loaded by that thread, finds it by the thread's name and takes its options from it, since the environment
// of a running program is not ours to change.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dtype_guard::san {

// Another layout has another one; a process that joins itself has both in
// cmake/wheel/dtype_guard/_library.py.
inline constexpr char kMailboxMagic[16] = "dtype-san-join4";
// A thread's name holds 15 characters: this and 12 hexadecimal digits of the mailbox's address.
inline constexpr char kMailboxThreadName[] = "dts";

enum class MailboxState : std::uint32_t { kWaiting = 0, kLoaded = 1, kFailed = 2, kGivenUp = 3 };

// How long a fork waits for the library to be loaded: as long as the helper thread comes on, which on a busy
// machine may be seldom; and not for ever, for it may wait for a lock that the forking thread has.
inline constexpr std::uint64_t kForkSecondsAtRest = 5;
inline constexpr std::uint64_t kForkSeconds = 60;

// How long the helper thread waits for its `go`, which a tool that was ended never gives.
inline constexpr std::uint64_t kGoSeconds = 30;

struct Mailbox {
  char magic[sizeof kMailboxMagic];
  std::uint32_t version;
  std::uint32_t state;         // MailboxState, written last
  std::uint32_t go;            // set by the tool when the borrowed thread runs on
  std::uint32_t answered;      // by the library; else it was there before
  std::uint32_t ignores_trap;  // the process ignored SIGTRAP, which a breakpoint makes the kernel forget

  // Functions of the process's own libc.
  void* (*open_library)(const char*, int);
  char* (*open_error)();
  unsigned long (*thread_self)();
  int (*thread_detach)(unsigned long);
  // These may be missing in it.
  int (*register_atfork)(void (*)(), void (*)(), void (*)(), void*);
  void (*lock_streams)();
  void (*unlock_streams)();

  // Forks of other threads wait while the helper loads the library, so that a child has it whole or not at
  // all. From then on what is called around a fork is what the library has put here.
  void (*helper_fork_handlers[3])();  // before it, after it, in the child
  std::uint32_t handles_forks;        // they are registered
  std::uint32_t is_loading;
  std::uint32_t process;      // in a forked child, whose page this is too, nothing is being loaded
  std::int32_t helper_clock;  // the clock of the processor time that the helper thread has used
  void (*before_fork)();
  void (*after_fork)();
  void (*after_fork_in_child)();

  void* handle;
  char thread_name[16];
  char error[512];  // of open_library, when it failed

  // Filled by the library.
  std::uint32_t observed_copies;    // of watched libraries
  std::uint32_t unobserved_copies;  // that carry no observer slot
  std::uint32_t bound_calls;        // to those, that are watched now
  char said[400];                   // of what else is watched, or is not
  char journal[1024];               // empty until there is one
  char problem[256];                // why nothing is watched; empty: all is well

  char library[4096];
  char options[4096];
};

}  // namespace dtype_guard::san
