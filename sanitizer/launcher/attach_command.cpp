#include <fmt/format.h>
#include <time.h>

#include <charconv>

#include "rules/text/printable.h"
#include "sanitizer/attach/attach_turn.h"
#include "sanitizer/attach/control.h"
#include "sanitizer/attach/injection.h"
#include "sanitizer/launcher/commands.h"
#include "sanitizer/launcher/library.h"
#include "sanitizer/launcher/message.h"
#include "sanitizer/launcher/output.h"
#include "sanitizer/launcher/own_contracts.h"

namespace dtype_guard::san {

pid_t parse_pid(const std::string& text) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (error != std::errc() || end != text.data() + text.size() || pid <= 0)
    throw UsageError{
        fmt::format("PID: '{}' is no process id, expected a positive number; 'ps -e' lists the processes",
                    printable(text))};
  return pid;
}

namespace {

// There already: a library stays for good with the options that it was loaded with, and is only switched.
bool switched_on(const ProcessFacts& process, const std::vector<std::string>& unused_options) {
  const auto control = read_control(process);
  if (!control) return false;
  switch_control(process, true);
  tell("process {} has the library already; {}", process.pid,
       control->on ? "it is being watched" : "switched on");
  for (const std::string& options : unused_options)
    tell("--options '{}' is not taken: the library keeps the options that it was loaded with",
         printable(options));
  if (!control->problem.empty())
    throw AttachError{
        fmt::format("process {} could not record until now: {}. It tries again at its next finding",
                    process.pid, printable(control->problem))};
  if (!control->journal.empty()) tell("journal {}", printable(control->journal));
  return true;
}

void tell_pause(const ProcessFacts& process, const Injection& injection) {
  const auto ms = [](std::chrono::nanoseconds time) { return static_cast<double>(time.count()) / 1e6; };
  tell(
      "attached to process {} ({}); thread {} was paused for {:.1f} ms{}", process.pid,
      printable_command(process.command), injection.thread, ms(injection.paused),
      injection.attempts == 1 || injection.paused_before.count() == 0
          ? ""
          : fmt::format(", others before it, at places where they cannot be borrowed, for {:.1f} ms together",
                        ms(injection.paused_before)));
}

void tell_copies(const Mailbox& mailbox) {
  if (mailbox.said[0] != '\0') tell("{}", printable(mailbox.said));
  if (mailbox.said[0] == '\0' || mailbox.observed_copies != 0)
    tell("{} {} of flash_ref watched{}", mailbox.observed_copies,
         mailbox.observed_copies == 1 ? "copy" : "copies",
         mailbox.observed_copies == 0 ? "; those that are loaded from now on will be" : "");
  if (mailbox.unobserved_copies != 0)
    tell(
        "{} more without an observer slot: {} bound {} watched now; not seen are calls through an "
        "address that the program has taken before (dlsym, ctypes), those inside such a copy, and of objects "
        "that are loaded later",
        mailbox.unobserved_copies, mailbox.bound_calls, mailbox.bound_calls == 1 ? "call is" : "calls are");
  if (mailbox.journal[0] != '\0') tell("journal {}", mailbox.journal);
}

void tell_result(const ProcessFacts& process, const Mailbox& mailbox,
                 const std::vector<std::string>& options) {
  if (mailbox.problem[0] != '\0')
    throw AttachError{fmt::format("process {} has the library now and runs on, but nothing is watched: {}",
                                  process.pid, printable(mailbox.problem))};
  if (mailbox.answered != 0) return tell_copies(mailbox);
  // It was loaded by something else just before, so that our mailbox was not looked at.
  const ProcessFacts now = read_process(process.pid);
  if (!switched_on(now, options))
    throw AttachError{fmt::format("process {} {}", process.pid, without_switch(now))};
}

// True when an attach that was ended could be finished.
bool finished(const ProcessFacts& process, const std::string& library, const std::string& options,
              const std::vector<std::string>& given) {
  const auto pending = find_pending_join(process);
  if (!pending) return false;
  const auto injection = finish_join(process, *pending, library, options);
  if (!injection) return false;
  tell(
      "attached to process {} ({}): finished what an attach had begun that was ended{}; no thread was paused "
      "now",
      process.pid, printable_command(process.command),
      pending->is_loading ? ", with the options of that one" : "");
  tell_result(process, injection->mailbox, given);
  return true;
}

void join(const ProcessFacts& process, const std::string& library, const CombinedOptions& options,
          const std::vector<std::string>& given) {
  if (switched_on(process, given) || finished(process, library, options.text, given)) return;
  if (const std::string problem = obstacle(process, library); !problem.empty())
    throw AttachError{fmt::format("process {} {}", process.pid, problem)};

  const Injection injection = inject_library(process, library, options.text);
  if (injection.mailbox.problem[0] == '\0' && injection.mailbox.answered != 0) tell_pause(process, injection);
  tell_result(process, injection.mailbox, given);
}

// What went wrong with a process that is ending has no other reason, whatever it looked like; that it is can
// be seen a little later only.
AttachError reason_of(const ProcessFacts& process, AttachError error) {
  constexpr int kRounds = 10;
  const std::string own = fmt::format("process {} ", process.pid);
  for (const char* known : {"ended", "was ended", "has ended"})
    if (error.message.starts_with(own + known)) return error;
  for (int round = 0; round < kRounds && !is_ending(process.pid); ++round) {
    const timespec pause = {0, 10'000'000};
    nanosleep(&pause, nullptr);
  }
  return is_ending(process.pid) ? AttachError{own + "ended while it was being joined"} : error;
}

}  // namespace

int attach_command(const AttachArguments& arguments) {
  const CombinedOptions options = combine_options(arguments.options);
  check_compiled_contracts(std::string(options.values.contracts.view()));
  const std::string library = find_library(arguments.library).string();
  const pid_t pid = parse_pid(arguments.pid);
  const AttachTurn turn(pid, [](const std::string& holder, pid_t process) {
    tell("{} is joining process {}: waiting for it", holder, process);
  });
  const ProcessFacts process = read_process(pid);
  try {
    join(process, library, options, arguments.options);
  } catch (const AttachError& error) {
    throw process.state == 'Z' ? error : reason_of(process, error);
  }
  return 0;
}

int switch_command(const std::string& pid, bool on) {
  const ProcessFacts process = read_process(parse_pid(pid));
  const bool before = switch_control(process, on);
  tell("process {} {} {}", process.pid, before == on ? "was already" : "is now",
       on ? "watched" : "not watched");
  const auto control = on ? read_control(process) : std::nullopt;
  if (control && !control->problem.empty())
    tell("process {} could not record until now: {}. It tries again at its next finding", process.pid,
         printable(control->problem));
  return 0;
}

}  // namespace dtype_guard::san
