#include <fmt/format.h>

#include <charconv>

#include "rules/text/printable.h"
#include "sanitizer/attach/attach_turn.h"
#include "sanitizer/attach/control.h"
#include "sanitizer/attach/injection.h"
#include "sanitizer/launcher/commands.h"
#include "sanitizer/launcher/library.h"
#include "sanitizer/launcher/message.h"
#include "sanitizer/launcher/output.h"

namespace dtype_guard::san {

pid_t parse_pid(const std::string& text) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (error != std::errc() || end != text.data() + text.size() || pid <= 0)
    throw UsageError{fmt::format("'{}' is no process id: a positive number was expected", text)};
  return pid;
}

namespace {

// There already: a library stays for good, and is only switched.
bool switched_on(const ProcessFacts& process) {
  const auto control = read_control(process);
  if (!control) return false;
  switch_control(process, true);
  tell("process {} has the library already; {}", process.pid,
       control->on ? "it is being watched" : "switched on");
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

void tell_result(const ProcessFacts& process, const Mailbox& mailbox) {
  if (mailbox.problem[0] != '\0')
    throw AttachError{
        fmt::format("process {} has the library, but watches nothing: {}", process.pid, mailbox.problem)};
  if (mailbox.answered != 0) return tell_copies(mailbox);
  // It was loaded by something else just before, so that nobody has looked at our mailbox.
  const ProcessFacts now = read_process(process.pid);
  if (!switched_on(now)) throw AttachError{fmt::format("process {} {}", process.pid, without_switch(now))};
}

// True when an attach that was ended could be finished.
bool finished(const ProcessFacts& process, const std::string& library, const std::string& options) {
  const auto pending = find_pending_join(process);
  if (!pending) return false;
  const auto injection = finish_join(process, *pending, library, options);
  if (!injection) return false;
  tell(
      "attached to process {} ({}): finished what an attach had begun that was ended{}; no thread was paused "
      "now",
      process.pid, printable_command(process.command),
      pending->is_loading ? ", with the options of that one" : "");
  tell_result(process, injection->mailbox);
  return true;
}

}  // namespace

int attach_command(const AttachArguments& arguments) {
  const CombinedOptions options = combine_options(arguments.options);
  const std::string library = find_library(arguments.library).string();
  const pid_t pid = parse_pid(arguments.pid);
  const AttachTurn turn(pid);
  const ProcessFacts process = read_process(pid);
  if (switched_on(process) || finished(process, library, options.text)) return 0;
  if (const std::string problem = obstacle(process, library); !problem.empty())
    throw AttachError{fmt::format("process {} {}", process.pid, problem)};

  const Injection injection = inject_library(process, library, options.text);
  if (injection.mailbox.problem[0] == '\0' && injection.mailbox.answered != 0) tell_pause(process, injection);
  tell_result(process, injection.mailbox);
  return 0;
}

int switch_command(const std::string& pid, bool on) {
  const ProcessFacts process = read_process(parse_pid(pid));
  const bool before = switch_control(process, on);
  tell("process {} {} {}", process.pid, before == on ? "was already" : "is now",
       on ? "watched" : "not watched");
  return 0;
}

}  // namespace dtype_guard::san
