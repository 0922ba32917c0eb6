// What happens when the library is loaded and when the program ends by exit() or by returning from main.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sanitizer/capture/loaded_object.h"
#include "sanitizer/capture/stack.h"
#include "sanitizer/runtime/control.h"
#include "sanitizer/runtime/joining.h"
#include "sanitizer/runtime/journal_writer.h"
#include "sanitizer/runtime/recorder.h"
#include "sanitizer/runtime/settings.h"
#include "sanitizer/runtime/tally.h"
#include "sanitizer/sources/absent_kernels.h"
#include "sanitizer/sources/bound_calls.h"
#include "sanitizer/sources/bound_ends.h"
#include "sanitizer/sources/call_check.h"
#include "sanitizer/sources/cupti/source.h"
#include "sanitizer/sources/flash_ref/observed_copies.h"
#include "sanitizer/sources/kernel_lookup.h"

namespace dtype_guard::san {
namespace {

bool has_watched_kernel() {
  bool found = false;
  each_loaded_object([&](const LoadedObject& object) {
    if (object.is_sanitizer()) return true;
    for (const ApiContract& contract : kContracts)
      found = found || object.find_function(contract.name) != nullptr;
    return !found;
  });
  return found;
}

// Tells `dtype-san attach` what it has achieved.
void answer(Mailbox& mailbox, const char* problem) {
  mailbox.observed_copies = observed_copy_count();
  if (const Process* mapped = process_mapping.load(std::memory_order_acquire))
    memcpy(mailbox.journal, mapped->journal_path, sizeof mailbox.journal - 1);
  strncpy(mailbox.problem, problem, sizeof mailbox.problem - 1);
  mailbox.answered = 1;
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
  note_start_objects();
  if (const char* other = earlier_copy(); other != nullptr && options.print_summary) {
    TextBuffer<2048> message;
    message << "libdtype_san.so is in process " << process_id() << " already, from '" << other
            << "': this second copy does nothing. Name one of them in LD_PRELOAD, and none beside 'dtype-san "
               "run'";
    say(message.view());
  }
  if (options.help) print_help();
  Mailbox* mailbox = joining_mailbox();
  if (!options.enabled) {
    (void)decide_watching();
    if (mailbox != nullptr)
      answer(*mailbox, earlier_copy() != nullptr ? "another libdtype_san.so is loaded already" : "enabled=0");
    return;
  }
  (void)at_quick_exit(on_quick_exit);
  open_tally();
  find_python();
  observe_loaded_copies();
  if (mailbox == nullptr) {
    forget_absent_kernels();
  } else {
    const BoundCalls bound = watch_bound_calls();
    mailbox->unobserved_copies = bound.copies;
    mailbox->bound_calls = bound.calls;
    watch_bound_ends();
  }
  (void)decide_watching();
  bool linked = observes_any_copy() || has_watched_kernel();
  if (options.verbosity >= 1 && is_switched_on())
    say(linked ? "watching flash_ref" : "no watched library yet; waiting for its first call");
  if (linked || mailbox != nullptr || options.start == Start::kDormant) open_control();
  bool is_of_interest = linked || is_launched_command() || mailbox != nullptr;
  if (is_of_interest && is_switched_on()) {
    if (Process* mapped = process()) {
      record_process(*mapped,
                     mailbox != nullptr && mailbox->unobserved_copies != 0
                         ? "joined while it ran: calls of a copy without an observer slot are seen where an "
                           "object was bound to it; not those through an address that was taken before "
                           "(dlsym, ctypes), those inside the copy, nor of objects that were loaded later"
                         : nullptr,
                     linked);
    }
  }
  if (mailbox != nullptr) {
    cupti::start_late();  // the driver was initialised without us
    TextBuffer<sizeof mailbox->problem> problem;
    const Process* mapped = process_mapping.load(std::memory_order_acquire);
    if (mapped != nullptr && tell_journal_problem(*mapped, problem))
      switch_watching(false);  // until somebody has made room for one
    answer(*mailbox, problem.c_str());
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
