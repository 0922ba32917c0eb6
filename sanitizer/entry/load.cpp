// What happens when the library is loaded and when the program ends by exit() or by returning from main.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sanitizer/entry/bound_ends.h"
#include "sanitizer/journal/journal_writer.h"
#include "sanitizer/platform/forks.h"
#include "sanitizer/platform/loaded_object.h"
#include "sanitizer/process/tally.h"
#include "sanitizer/runtime/control.h"
#include "sanitizer/runtime/recorder.h"
#include "sanitizer/runtime/source.h"
#include "sanitizer/runtime/watching.h"
#include "sanitizer/settings/joining.h"
#include "sanitizer/settings/settings.h"

namespace dtype_guard::san {
namespace {

// Tells `dtype-san attach` what it has achieved.
void answer(Mailbox& mailbox, const Arrival& arrival, const char* problem) {
  mailbox.observed_copies = arrival.observed_copies;
  mailbox.unobserved_copies = arrival.unobserved_copies;
  mailbox.bound_calls = arrival.bound_calls;
  strncpy(mailbox.said, arrival.said.c_str(), sizeof mailbox.said - 1);
  if (const Process* mapped = process_mapping.load(std::memory_order_acquire))
    memcpy(mailbox.journal, mapped->journal_path, sizeof mailbox.journal - 1);
  strncpy(mailbox.problem, problem, sizeof mailbox.problem - 1);
  mailbox.answered = 1;
}

// Not registered anew where attach has done so: on glibc before 2.37 a fork that waits for the end of our
// loading holds the lock of registering.
void handle_forks(Mailbox* mailbox) {
  if (mailbox == nullptr || mailbox->handles_forks == 0) return register_fork_handlers();
  const ForkHandlers handlers = fork_handlers();
  __atomic_store_n(&mailbox->after_fork_in_child, handlers.in_child, __ATOMIC_RELEASE);
  __atomic_store_n(&mailbox->after_fork, handlers.after, __ATOMIC_RELEASE);
  __atomic_store_n(&mailbox->before_fork, handlers.before, __ATOMIC_RELEASE);
}

void print_help() {
  say("DTYPE_SAN_OPTIONS takes key=value pairs separated by colons:");
  describe_options([](void*, std::string_view line) { say(line); }, nullptr);
}

// quick_exit runs no destructors. What it calls instead runs last to first, so that ours follows the
// program's.
void on_quick_exit();

[[gnu::constructor]] void on_load() {
  QuietSection quiet;
  const Options& options = settings();
  for (const Source* source : sources()) source->loaded();
  if (const char* other = earlier_copy(); other != nullptr && options.print_summary) {
    TextBuffer<2048> message;
    message << "libdtype_san.so is in process " << process_id() << " already, from '" << other
            << "': this second copy does nothing. Name one of them in LD_PRELOAD, and none beside 'dtype-san "
               "run'";
    say(message.view());
  }
  if (options.help) print_help();
  Mailbox* mailbox = joining_mailbox();
  Arrival arrival{.joined = mailbox != nullptr};
  if (!options.enabled) {
    (void)decide_watching();
    if (mailbox != nullptr)
      answer(*mailbox, arrival,
             earlier_copy() != nullptr ? "another libdtype_san.so is loaded already" : "enabled=0");
    return;
  }
  handle_forks(mailbox);
  (void)at_quick_exit(on_quick_exit);
  open_tally();
  find_python();
  for (const Source* source : sources()) source->arrived(arrival);
  if (mailbox != nullptr) watch_bound_ends();
  (void)decide_watching();
  const bool linked = arrival.has_watched;
  if (options.verbosity >= 1 && is_switched_on())
    say(linked ? "watching flash_ref" : "no watched library yet; waiting for its first call");
  if (linked || mailbox != nullptr || options.start == Start::kDormant) open_control();
  bool is_of_interest = linked || is_launched_command() || mailbox != nullptr;
  if (is_of_interest && is_switched_on()) {
    if (Process* mapped = process()) {
      record_process(*mapped, arrival.remark, linked);
      // For doctor, which asks while the job runs.
      for (const Source* source : sources())
        if (mailbox != nullptr) record_source(*mapped, *source);
    }
  }
  if (mailbox != nullptr) {
    start_sources_late();
    TextBuffer<sizeof mailbox->problem> problem;
    const Process* mapped = process_mapping.load(std::memory_order_acquire);
    if (mapped != nullptr && tell_journal_problem(*mapped, problem))
      switch_watching(false);  // until there is room for one
    answer(*mailbox, arrival, problem.c_str());
  }
}

// Whether this process may have something to say at its end.
bool was_watched() {
  return settings().enabled && process_mapping.load(std::memory_order_acquire) != nullptr;
}

void print_summary(const Process& state, std::uint64_t findings) {
  TextBuffer<2500> message;
  message << findings << (findings == 1 ? " finding" : " findings") << " in process " << process_id();
  const std::uint32_t reason = state.loss_reason.load(std::memory_order_relaxed);
  FileStatus file;
  if (state.journal.load(std::memory_order_acquire) != static_cast<std::uint32_t>(JournalState::kOpen)) {
    message << ", not recorded";
  } else if (reason == ESTALE) {
    message << ", not recorded: journal '" << state.journal_path << "' is not there any more";
  } else if (path_status(state.journal_path, file) && file.size == 0) {
    message << ", not recorded: journal '" << state.journal_path << "' could not be written";
  } else if (reason != 0) {
    message << ", journal '" << state.journal_path << "' lacks what could not be written ("
            << error_text(-static_cast<long>(reason)) << "); 'dtype-san report' prints the rest";
  } else {
    message << ", journal '" << state.journal_path << "'; 'dtype-san report' prints it";
  }
  say(message.view());
}

[[gnu::destructor]] void on_unload() {
  if (!was_watched()) return;
  Process* state = process_mapping.load(std::memory_order_acquire);
  std::uint64_t findings = record_end(*state);
  if (findings == 0) return;
  if (settings().print_summary) print_summary(*state, findings);
  if (settings().exitcode != 0) {
    fflush(nullptr);  // _exit would lose what the program has printed
    _exit(static_cast<int>(settings().exitcode));
  }
}

void on_quick_exit() {
  const Process* state = process_mapping.load(std::memory_order_acquire);
  if (state != nullptr && state->owner == process_id()) on_unload();
}

}  // namespace

}  // namespace dtype_guard::san
