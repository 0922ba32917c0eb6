#include "sanitizer/attach/injection.h"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <type_traits>
#include <vector>

#include "sanitizer/attach/helper_thread.h"
#include "sanitizer/attach/own_child.h"
#include "sanitizer/attach/process_symbols.h"
#include "sanitizer/attach/signal_shield.h"
#include "sanitizer/attach/stopped_thread.h"
#include "sanitizer/attach/urgency.h"

namespace dtype_guard::san {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kPages = 1 + (sizeof(Mailbox) + kPage - 1) / kPage;
constexpr unsigned char kTrap = 0xcc;  // behind the code
constexpr int kAttempts = 200;
constexpr auto kSearchTime = std::chrono::seconds(60);
constexpr auto kLoadTime = std::chrono::seconds(120);

struct Entries {
  std::uint64_t create_thread;
  std::uint64_t system_call;  // address of a "syscall" instruction
  Mailbox mailbox;            // with the process's functions filled in
};

void sleep_ms(long milliseconds) {
  const timespec pause = {milliseconds / 1000, milliseconds % 1000 * 1'000'000};
  nanosleep(&pause, nullptr);
}

std::uint64_t required(const ProcessSymbols& symbols, const char* name) {
  const auto address = symbols.libc_function(name);
  if (!address) throw AttachError{fmt::format("the process's libc has no function '{}'", name)};
  return *address;
}

std::uint64_t find_system_call(pid_t process, std::uint64_t function) {
  std::array<unsigned char, 64> code = {};
  if (!read_process_memory(process, function, code.data(), code.size())) return 0;
  for (std::size_t i = 0; i + 1 < code.size(); ++i) {
    if (code[i] == 0x0f && code[i + 1] == 0x05) return function + i;
  }
  return 0;
}

template <std::size_t size>
void set_text(char (&field)[size], const std::string& text, const char* what) {
  if (text.size() >= size) throw AttachError{fmt::format("{} is longer than {} bytes", what, size - 1)};
  memcpy(field, text.c_str(), text.size() + 1);
}

Entries find_entries(const ProcessFacts& process, const ProcessSymbols& symbols, const std::string& library,
                     const std::string& options) {
  Entries entries = {};
  entries.create_thread = required(symbols, "pthread_create");
  entries.system_call = find_system_call(process.live_thread, required(symbols, "getppid"));
  if (entries.system_call == 0)
    throw AttachError{fmt::format("process {} {}", process.pid, permission_problem(process))};
  Mailbox& mailbox = entries.mailbox;
  memcpy(mailbox.magic, kMailboxMagic, sizeof mailbox.magic);
  mailbox.version = 1;
  mailbox.ignores_trap = ignores_signal(process, SIGTRAP) ? 1 : 0;
  const auto store = [](auto& function, std::uint64_t address) {
    memcpy(&function, &address, sizeof function);
  };
  store(mailbox.open_library, required(symbols, "dlopen"));
  store(mailbox.open_error, required(symbols, "dlerror"));
  store(mailbox.thread_self, required(symbols, "pthread_self"));
  store(mailbox.thread_detach, required(symbols, "pthread_detach"));
  store(mailbox.register_atfork, symbols.libc_function("__register_atfork").value_or(0));
  store(mailbox.lock_streams, symbols.libc_function("_IO_list_lock").value_or(0));
  store(mailbox.unlock_streams, symbols.libc_function("_IO_list_unlock").value_or(0));
  set_text(mailbox.library, library, "the library's path");
  set_text(mailbox.options, options, "the option text");
  return entries;
}

// Maps code and mailbox into the process and starts the helper thread. Each thing that the thread is made to
// do costs two waits for a processor, so there are two: a mapping that is never writable and executable at
// once (what PTRACE_POKEDATA writes needs no right), and pthread_create. Gives the mailbox's address; 0 when
// some step failed, the thread being put back all the same.
std::uint64_t start_helper(StoppedThread& thread, Entries& entries) {
  const HelperCode code = helper_code();
  if (!thread.block_signals() || code.size + 1 > kPage) return 0;
  const auto mapped = thread.system_call(
      entries.system_call, SYS_mmap,
      {0, kPages * kPage, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, ~std::uint64_t{0}, 0});
  if (!mapped || *mapped < 0 || thread.was_stopped()) return 0;
  const auto pages = static_cast<std::uint64_t>(*mapped);
  const std::uint64_t mailbox_at = pages + kMailboxAt;
  for (std::size_t i = 0; i < std::size(code.fork_handlers); ++i) {
    const std::uint64_t handler = pages + code.fork_handlers[i];
    memcpy(&entries.mailbox.helper_fork_handlers[i], &handler, sizeof handler);
  }
  set_text(entries.mailbox.thread_name, fmt::format("{}{:012x}", kMailboxThreadName, mailbox_at),
           "the thread's name");
  std::vector<unsigned char> code_and_trap(static_cast<const unsigned char*>(code.bytes),
                                           static_cast<const unsigned char*>(code.bytes) + code.size);
  code_and_trap.push_back(kTrap);
  if (!thread.fill(pages, code_and_trap.data(), code_and_trap.size()) ||
      !thread.fill(mailbox_at, &entries.mailbox, sizeof entries.mailbox))
    return 0;
  // pthread_create wants a place for the thread's handle, which is not needed.
  const auto created = thread.call(entries.create_thread, pages + code.size,
                                   {thread.scratch(), 0, pages + code.entry, mailbox_at});
  return created && *created == 0 ? mailbox_at : 0;
}

// Threads that sleep come first: stopping one costs nothing.
std::vector<pid_t> candidates(pid_t process) {
  std::vector<pid_t> sleeping, running;
  for (const pid_t thread : threads_of(process)) {
    const std::string state = thread_status(process, thread, "State");
    if (state == "S") sleeping.push_back(thread);
    if (state == "R") running.push_back(thread);
  }
  sleeping.insert(sleeping.end(), running.begin(), running.end());
  return sleeping;
}

std::string stopped_process(const ProcessFacts& process) {
  return fmt::format(
      "process {} was stopped by a signal while it was being joined, and stays so: 'kill -CONT {}' lets it "
      "run, "
      "then attach again",
      process.pid, process.pid);
}

std::string ended_thread(const ProcessFacts& process, pid_t thread, int status) {
  const std::string end = WIFSIGNALED(status) ? fmt::format("was ended by signal {} ({})", WTERMSIG(status),
                                                            strsignal(WTERMSIG(status)))
                                              : fmt::format("ended with status {}", WEXITSTATUS(status));
  if (has_ended(process.pid)) return fmt::format("process {} {} while it was being joined", process.pid, end);
  return fmt::format("thread {} of process {} {} while it was borrowed; the others run on", thread,
                     process.pid, end);
}

// Its end is not told to a tracer while it is the first of threads that live.
bool has_thread_ended(pid_t process, pid_t thread) {
  const std::string state = thread_status(process, thread, "State");
  return state.empty() || state == "Z" || state == "X";
}

struct Started {
  std::uint64_t mailbox_at = 0;
  Injection injection;
};

std::optional<Started> try_thread(const ProcessFacts& process, pid_t id, ProcessSymbols& symbols,
                                  Entries& entries, std::string& problem,
                                  std::chrono::nanoseconds& paused_before) {
  symbols.warm_up(id);
  const SignalShield shield;
  const Urgency own(0);
  std::optional<Urgency> of_thread(id);
  const auto begin = Clock::now();
  auto thread = StoppedThread::stop(process.live_thread, id, problem);
  if (!thread) return std::nullopt;
  problem = symbols.hazard(id);
  if (!problem.empty()) {
    of_thread.reset();
    thread.reset();
    paused_before += Clock::now() - begin;
    return std::nullopt;
  }
  Started started;
  started.mailbox_at = start_helper(*thread, entries);
  const bool was_stopped = thread->was_stopped(), timed_out = thread->timed_out();
  const std::optional<int> end = thread->end();
  of_thread.reset();
  thread.reset();
  started.injection.paused = Clock::now() - begin;
  started.injection.thread = id;
  if (end) throw AttachError{ended_thread(process, id, *end)};
  if (was_stopped) throw AttachError{stopped_process(process)};
  if (started.mailbox_at == 0 && !has_ended(process.pid) && has_thread_ended(process.pid, id))
    throw AttachError{
        fmt::format("thread {} of process {} ended while it was borrowed (a filter of its system "
                    "calls?); the others run on",
                    id, process.pid)};
  if (started.mailbox_at == 0)
    throw AttachError{fmt::format("thread {} of process {} could not start a helper thread{}; {}", id,
                                  process.pid,
                                  timed_out ? " in time (another thread holds a lock of the loader?)" : "",
                                  has_ended(process.pid) ? "the process has ended" : "it runs on as before")};
  return started;
}

Started start_in_some_thread(const ProcessFacts& process, ProcessSymbols& symbols, Entries& entries) {
  std::string problem = "it has no thread that runs or sleeps";
  std::chrono::nanoseconds paused_before{0};
  int attempts = 0;
  const auto end = Clock::now() + kSearchTime;
  while (attempts < kAttempts && Clock::now() < end) {
    const std::vector<pid_t> threads = candidates(process.pid);
    for (const pid_t thread : threads) {
      ++attempts;
      if (auto started = try_thread(process, thread, symbols, entries, problem, paused_before)) {
        started->injection.attempts = attempts;
        started->injection.paused_before = paused_before;
        return *started;
      }
      if (problem == kStoppedBySignal) throw AttachError{stopped_process(process)};
      // It would stop later: the end of this child of the tool takes that back.
      if (problem == kNotStopping)
        throw AttachError{
            fmt::format("thread {} of process {} {}; it runs on", thread, process.pid, problem)};
      if (problem == strerror(EPERM))
        throw AttachError{fmt::format("process {} {}", process.pid, permission_problem(process))};
    }
    if (threads.empty() && has_ended(process.pid))
      throw AttachError{fmt::format("process {} has ended meanwhile", process.pid)};
    if (threads.empty()) ++attempts;
    sleep_ms(5);
  }
  throw AttachError{fmt::format(
      "process {}: no thread came to a place where it can be borrowed; of the last one: {}. Try again",
      process.pid, problem)};
}

// False when the helper thread had given up waiting for its `go`.
bool wait_until_loaded(const ProcessFacts& process, Started& started) {
  constexpr int kMostFailures = 100;
  const auto end = Clock::now() + kLoadTime;
  Mailbox& mailbox = started.injection.mailbox;
  const std::uint32_t go = 1;
  pid_t thread = process.live_thread;
  int failures = 0;
  do {
    if (!read_process_memory(thread, started.mailbox_at, &mailbox, sizeof mailbox)) {
      if (has_ended(process.pid))
        throw AttachError{fmt::format("process {} ended while the library was being loaded", process.pid)};
      if (++failures == kMostFailures)
        throw AttachError{
            fmt::format("process {} became another program (exec) while the library was being loaded: attach "
                        "again to watch that",
                        process.pid)};
      thread = live_thread_of(process.pid);  // the other one alone has ended
      sleep_ms(1);
      continue;
    }
    if (mailbox.state == static_cast<std::uint32_t>(MailboxState::kLoaded)) return true;
    if (mailbox.state == static_cast<std::uint32_t>(MailboxState::kGivenUp)) return false;
    if (mailbox.state == static_cast<std::uint32_t>(MailboxState::kFailed))
      throw AttachError{fmt::format("process {} could not load the library: {}", process.pid, mailbox.error)};
    // Out of reach until the helper has made its mailbox writable.
    if (mailbox.go == 0)
      (void)write_process_memory(thread, started.mailbox_at + offsetof(Mailbox, go), &go, sizeof go);
    if (thread_status(process.pid, thread, "State") == "T") throw AttachError{stopped_process(process)};
    sleep_ms(1);
  } while (Clock::now() < end);
  throw AttachError{fmt::format(
      "process {}: the library is still being loaded after {} s (another thread holds the dynamic "
      "loader?); the job runs on, and is watched once that is done",
      process.pid, std::chrono::duration_cast<std::chrono::seconds>(kLoadTime).count())};
}

// By a child, since what is done to the thread must come to its end.
Started start_apart(const ProcessFacts& process, const std::string& library, const std::string& options) {
  static_assert(std::is_trivially_copyable_v<Started>);
  const std::string bytes = by_own_child([&] {
    ProcessSymbols symbols(process.live_thread);
    Entries entries = find_entries(process, symbols, library, options);
    const Started started = start_in_some_thread(process, symbols, entries);
    return std::string(reinterpret_cast<const char*>(&started), sizeof started);
  });
  Started started;
  if (bytes.size() != sizeof started)
    throw AttachError{
        fmt::format("the child of this command that borrows a thread was cut short; process {} "
                    "runs on, and is joined by the next attach",
                    process.pid)};
  std::memcpy(&started, bytes.data(), sizeof started);
  return started;
}

}  // namespace

Injection inject_library(const ProcessFacts& process, const std::string& library,
                         const std::string& options) {
  Started started = start_apart(process, library, options);
  if (!wait_until_loaded(process, started))
    throw AttachError{
        fmt::format("process {}: its helper thread waited {} s for this command and gave up; it runs as "
                    "before, try again",
                    process.pid, kGoSeconds)};
  return started.injection;
}

std::optional<Injection> finish_join(const ProcessFacts& process, const PendingJoin& pending,
                                     const std::string& library, const std::string& options) {
  Started started;
  started.mailbox_at = pending.mailbox_at;
  if (!pending.is_loading) {
    Mailbox wanted = {};
    set_text(wanted.library, library, "the library's path");
    set_text(wanted.options, options, "the option text");
    constexpr std::size_t kFrom = offsetof(Mailbox, library);
    if (!write_process_memory(process.live_thread, pending.mailbox_at + kFrom,
                              reinterpret_cast<const char*>(&wanted) + kFrom, sizeof wanted - kFrom))
      return std::nullopt;
  }
  if (!wait_until_loaded(process, started)) return std::nullopt;
  return started.injection;
}

}  // namespace dtype_guard::san
